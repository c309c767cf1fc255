import { useState } from 'react';
import { applyEdit, type SourceEdit } from './source-edits.ts';
import { parseSource, type SourceModel, withTypedText } from './source-model.ts';

interface ShownEmail {
  model: SourceModel;
  /** The HTML of the frame. The frame is redrawn only if more than a text has changed. */
  document: string;
}

export type VisualSource = ReturnType<typeof useVisualSource>;

/**
 * Holds the source of the email, and the document that the frame shows. The editable parts of the source, such as
 * headings and images, are numbered. The frame names a part by its number.
 */
export function useVisualSource(p: {
  value: string;
  onChange: (value: string, isOwnStep: boolean) => void;
  draw: (model: SourceModel) => string;
  /** Runs when an edit has renumbered the parts of the email, so that earlier numbers are no longer valid. */
  onRedraw: () => void;
}) {
  const createShown = (source: string): ShownEmail => {
    const model = parseSource(source);
    return { model, document: p.draw(model) };
  };
  const [shown, setShown] = useState(() => createShown(p.value));
  const { model } = shown;

  const redraw = (source: string) => {
    setShown(createShown(source));
    p.onRedraw();
  };
  return {
    ...shown,
    redraw,
    /** Makes edits that renumber the parts. Returns the new source. */
    change: (edits: SourceEdit[]): string => {
      const source = edits.reduce(applyEdit, model.source);
      redraw(source);
      p.onChange(source, true);
      return source;
    },
    /** Changes styles and attributes. The parts keep their numbers, so the selection stays. */
    restyle: (edits: SourceEdit[]) => {
      const source = edits.reduce(applyEdit, model.source);
      setShown(createShown(source));
      p.onChange(source, true);
    },
    /** Takes the text that the user typed into a part. Returns whether it differs from the part's text. */
    type: (id: number, typedText: string): boolean => {
      const typed = withTypedText(model, id, typedText);
      if (typed === model) return false;
      // The frame shows the typed text already. Redrawing it would move the cursor away.
      setShown({ ...shown, model: typed });
      p.onChange(typed.source, false);
      return true;
    },
  };
}
