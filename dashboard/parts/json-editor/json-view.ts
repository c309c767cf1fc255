import {
  autocompletion,
  type Completion,
  type CompletionContext,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, StreamLanguage, type StreamParser, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { EditorState, type Extension, Transaction } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { text } from '../../text/text.ts';
import { codeColors, codeTheme } from '../email-editor/code-theme.ts';
import type { Variable } from '../email-editor/variables.ts';
import { readJson } from './json-fault.ts';

export interface JsonViewOptions {
  value: string;
  label: string;
  isReadOnly: boolean;
  /** Called for each completion. */
  variables: () => readonly Variable[];
  onChange: (value: string) => void;
}

/**
 * Opens a JSON editor in this element. The editor marks errors at their position and completes variables after `{{`.
 */
export function mountJsonEditor(parent: HTMLElement, p: JsonViewOptions): EditorView {
  return new EditorView({ state: EditorState.create({ doc: p.value, extensions: createExtensions(p) }), parent });
}

function createExtensions(p: JsonViewOptions): Extension[] {
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    StreamLanguage.define(JSON_WORDS),
    autocompletion({ override: [(context) => completeVariables(context, p.variables())] }),
    linter(({ state }) => findFaults(state)),
    syntaxHighlighting(codeColors),
    codeTheme,
    EditorView.lineWrapping,
    EditorState.readOnly.of(p.isReadOnly),
    EditorView.contentAttributes.of({ 'aria-label': p.label, tabindex: '0' }),
    // Tab moves to the next field, as in other forms.
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
    EditorView.updateListener.of((update) => {
      const isFromParent = update.transactions.some((transaction) => transaction.annotation(Transaction.remote));
      if (update.docChanged && !isFromParent) p.onChange(update.state.doc.toString());
    }),
  ];
}

/**
 * Replaces the text after a change from outside the editor. The parent returns typed text unchanged; then this function
 * replaces nothing, and the cursor does not move.
 */
export function replaceJson(view: EditorView, value: string): void {
  const current = view.state.doc.toString();
  if (current === value) return;
  view.dispatch({ changes: { from: 0, to: current.length, insert: value }, annotations: Transaction.remote.of(true) });
}

function findFaults(state: EditorState) {
  const read = readJson(state.doc.toString());
  if (!('fault' in read)) return [];
  const { at, line, column } = read.fault;
  const from = Math.max(0, Math.min(at, state.doc.length - 1));
  const to = Math.min(from + 1, state.doc.length);
  return [{ from, to, severity: 'error' as const, message: text.dataFields.badJson(line, column) }];
}

/** Completes names of variables after `{{`, and adds `}}` if it is missing. */
function completeVariables(context: CompletionContext, variables: readonly Variable[]) {
  const typed = context.matchBefore(/\{\{\s*[\w.$-]*/);
  if (!typed) return null;
  const from = typed.from + (/^\{\{\s*/.exec(typed.text)?.[0].length ?? 0);
  const isClosed = context.state.sliceDoc(context.pos, context.pos + 2) === '}}';
  const options = variables.map(
    ({ name, about }): Completion => ({
      label: name,
      detail: about,
      type: 'variable',
      apply: isClosed ? name : `${name}}}`,
    }),
  );
  return { from, options, validFor: /^[\w.$-]*$/ };
}

/** Tokens of JSON for syntax colors. */
const JSON_WORDS: StreamParser<object> = {
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return stream.match(/^\s*:/, false) ? 'propertyName' : 'string';
    if (stream.match(/^-?\d[\d.eE+-]*/)) return 'number';
    if (stream.match(/^(?:true|false)\b/)) return 'bool';
    if (stream.match(/^null\b/)) return 'keyword';
    stream.next();
    return null;
  },
};
