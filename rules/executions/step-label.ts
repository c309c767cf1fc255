import type { StepType } from './steps/registry.ts';

/**
 * Bytes of a label as JSON. Temporal documents a limit of 200 bytes for summaries, and accepts 400 including its own
 * wrapping. After a longer one it may refuse every task of the workflow.
 */
const MAX_BYTES = 200;
const CUT = '…';
const encoder = new TextEncoder();

/**
 * Returns the label of a step in the Temporal UI: the tenant's name for it, never data of a contact. A label that is
 * too long is cut between two characters.
 */
export function stepLabel(step: { type: StepType; name: string }, detail?: string): string {
  const label = `${step.type} “${step.name}”${detail === undefined ? '' : ` (${detail})`}`;
  if (byteLength(label) <= MAX_BYTES) return label;
  let kept = '';
  let left = MAX_BYTES - byteLength(CUT);
  for (const character of label) {
    left -= byteLength(character);
    if (left < 0) break;
    kept += character;
  }
  return kept + CUT;
}

/** Returns the number of UTF-8 bytes as JSON, without the quotes. A character below U+0020 takes six. */
function byteLength(text: string): number {
  return encoder.encode(JSON.stringify(text)).length - 2;
}
