import { applyEdit, createTextEdit, type SourceEdit } from './source-edits.ts';
import {
  type AttributeValueRange,
  findParts,
  listShownCharacters,
  type SourcePart,
  type SourceParts,
  type TextPart,
} from './source-parts.ts';

/**
 * An email's source and its editable parts. The parts keep their numbers during typing, so that the frame still
 * matches them.
 */
export interface SourceModel extends SourceParts {
  source: string;
}

export function parseSource(source: string): SourceModel {
  return { source, ...findParts(source) };
}

/** Returns the model after the user changed a text; the same model if nothing differs. */
export function withTypedText(model: SourceModel, id: number, now: string): SourceModel {
  const part = model.parts[id];
  if (part?.kind !== 'text') return model;
  const edit = createTextEdit(part, now);
  if (!edit) return model;
  const source = applyEdit(model.source, edit);
  const delta = edit.replacement.length - (edit.end - edit.start);
  return {
    source,
    parts: model.parts.map((other) =>
      other === part ? readTextAgain(part, edit, source) : shiftPart(other, edit, delta),
    ),
    hidden: model.hidden.map((other) => (other.start >= edit.end ? shiftSpan(other, delta) : other)),
  };
}

/** Reads the characters of the changed part again. The part keeps its number, even if its text is empty now. */
function readTextAgain(part: TextPart, edit: SourceEdit, source: string): TextPart {
  const end = part.end + edit.replacement.length - (edit.end - edit.start);
  const characters = listShownCharacters(source.slice(part.start, end)).map((one) => shiftSpan(one, part.start));
  return { ...part, end, characters };
}

/** Moves a part by `delta` characters if it is after the edit. */
function shiftPart(part: SourcePart, edit: SourceEdit, delta: number): SourcePart {
  if (part.start < edit.end) return part;
  if (part.kind === 'text') {
    return { ...shiftSpan(part, delta), characters: part.characters.map((character) => shiftSpan(character, delta)) };
  }
  const attributes = new Map<string, AttributeValueRange>();
  for (const [name, range] of part.attributes) attributes.set(name, shiftSpan(range, delta));
  return { ...shiftSpan(part, delta), nameEnd: part.nameEnd + delta, attributes };
}

function shiftSpan<Span extends { start: number; end: number }>(range: Span, delta: number): Span {
  return { ...range, start: range.start + delta, end: range.end + delta };
}
