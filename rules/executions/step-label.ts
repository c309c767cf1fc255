import type { StepType } from './steps/registry.ts';

/**
 * Bytes of a label as JSON. Temporal takes summaries of 400 bytes with what it wraps them in, documents 200, and may
 * refuse the workflow's every task over a longer one.
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
  if (bytesOf(label) <= MAX_BYTES) return label;
  let kept = '';
  let left = MAX_BYTES - bytesOf(CUT);
  for (const character of label) {
    left -= bytesOf(character);
    if (left < 0) break;
    kept += character;
  }
  return kept + CUT;
}

/** In UTF-8, without the quotes around it. A character below U+0020 is written in six. */
function bytesOf(text: string): number {
  return encoder.encode(JSON.stringify(text)).length - 2;
}
