import type { StepType } from './steps/registry.ts';

/**
 * The maximum size of a label as JSON, in bytes. Temporal documents a limit of 200 bytes for summaries, and accepts 400
 * bytes including its encoding. After a longer summary, Temporal may refuse every task of the workflow.
 */
const MAX_BYTES = 200;
const CUT = '…';
const encoder = new TextEncoder();

/**
 * Returns the label of a step in the Temporal UI. The label contains the name that the tenant gave the step, never data
 * of a contact. A label that is too long is cut between two characters.
 */
export function formatStepLabel(step: { type: StepType; name: string }, detail?: string): string {
  const label = `${step.type} “${step.name}”${detail === undefined ? '' : ` (${detail})`}`;
  if (byteLength(label) <= MAX_BYTES) return label;
  let cutLabel = '';
  let bytesLeft = MAX_BYTES - byteLength(CUT);
  for (const character of label) {
    bytesLeft -= byteLength(character);
    if (bytesLeft < 0) break;
    cutLabel += character;
  }
  return cutLabel + CUT;
}

/** Returns the size of a text in JSON without the quotes, in UTF-8 bytes. A control character may take six bytes. */
function byteLength(text: string): number {
  return encoder.encode(JSON.stringify(text)).length - 2;
}
