import { useState } from 'react';
import { applyEdit, type SourceEdit } from './source-edits.ts';
import { parseSource, type SourceModel, withTypedText } from './source-model.ts';

/** When an edit is added, this number of earlier edits can still be undone. */
const STEPS_MAX = 100;

interface ShownEmail {
  model: SourceModel;
  /** The HTML of the frame. The frame is redrawn only if more than a text has changed. */
  document: string;
}

export type VisualSource = ReturnType<typeof useVisualSource>;

/** Holds the source of the email with its earlier versions, and the document that the frame shows. */
export function useVisualSource(p: {
  value: string;
  onChange: (value: string) => void;
  draw: (model: SourceModel) => string;
  /** Runs when the parts of the email get new numbers. */
  onRedraw: () => void;
}) {
  const createShown = (source: string): ShownEmail => {
    const model = parseSource(source);
    return { model, document: p.draw(model) };
  };
  const [shown, setShown] = useState(() => createShown(p.value));
  const [past, setPast] = useState<string[]>([]);
  const { model } = shown;

  const remember = () => setPast((all) => [...all.slice(-STEPS_MAX), model.source]);
  const redraw = (source: string) => {
    setShown(createShown(source));
    p.onRedraw();
  };
  return {
    ...shown,
    redraw,
    /** Makes edits that renumber the parts. Returns the new source. */
    change: (edits: SourceEdit[]): string => {
      remember();
      const source = edits.reduce(applyEdit, model.source);
      redraw(source);
      p.onChange(source);
      return source;
    },
    /** Changes styles and attributes. The parts keep their numbers, so the selection stays. */
    restyle: (edits: SourceEdit[]) => {
      remember();
      const source = edits.reduce(applyEdit, model.source);
      setShown(createShown(source));
      p.onChange(source);
    },
    /** Takes the text that the user typed into a part. Returns whether it differs from the part's text. */
    type: (id: number, typedText: string): boolean => {
      const typed = withTypedText(model, id, typedText);
      if (typed === model) return false;
      if (past.at(-1) !== model.source) remember();
      // The frame shows the typed text already. Redrawing it would move the cursor away.
      setShown({ ...shown, model: typed });
      p.onChange(typed.source);
      return true;
    },
    canUndo: past.length > 0,
    undo: () => {
      const last = past.at(-1);
      if (last === undefined) return;
      setPast(past.slice(0, -1));
      redraw(last);
      p.onChange(last);
    },
  };
}
