import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { html } from '@codemirror/lang-html';
import { liquid } from '@codemirror/lang-liquid';
import { bracketMatching, foldGutter, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Transaction } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { codeColors, codeTheme } from './code-theme.ts';
import { findImages, findPastedImages } from './images.ts';
import type { EmailFault } from './use-preview.ts';
import type { Variable } from './variables.ts';

export interface CodeEvents {
  onChange: (value: string) => void;
  /** Called with images that were dropped or pasted. `insert` adds the tag of an image at the drop or the cursor. */
  onImages: (files: File[], insert: (tag: string) => void) => void;
}

const language = new Compartment();

/** Opens an editor for HTML with Liquid in an element. */
export function mountCodeEditor(
  parent: HTMLElement,
  p: CodeEvents & { value: string; isReadOnly: boolean; label: string },
): EditorView {
  const state = EditorState.create({ doc: p.value, extensions: createExtensions(p) });
  return new EditorView({ state, parent });
}

function createExtensions(p: CodeEvents & { isReadOnly: boolean; label: string }): Extension[] {
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    language.of(createLanguage([])),
    syntaxHighlighting(codeColors),
    codeTheme,
    EditorView.lineWrapping,
    EditorState.readOnly.of(p.isReadOnly),
    EditorView.contentAttributes.of({ 'aria-label': p.label, tabindex: '0' }),
    // Tab indents, as in other code editors. Escape and then Tab leaves the editor.
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
    EditorView.updateListener.of((update) => {
      const isFromParent = update.transactions.some((transaction) => transaction.annotation(Transaction.remote));
      if (update.docChanged && !isFromParent) p.onChange(update.state.doc.toString());
    }),
    p.isReadOnly ? [] : acceptImages(p.onImages),
  ];
}

function acceptImages(onImages: CodeEvents['onImages']): Extension {
  // The user may type while an image uploads. The position of the image moves with the text around it.
  const positions: { offset: number }[] = [];
  const acceptFiles = (view: EditorView, files: File[], offset: number): boolean => {
    if (files.length === 0) return false;
    const position = { offset };
    positions.push(position);
    onImages(files, (tag) => {
      const line = `${tag}\n`;
      const from = position.offset;
      view.dispatch({ changes: { from, insert: line }, selection: { anchor: from + line.length } });
    });
    return true;
  };
  return [
    EditorView.updateListener.of(({ changes }) => {
      for (const position of positions) position.offset = changes.mapPos(position.offset, 1);
    }),
    EditorView.domEventHandlers({
      drop: (event, view) => {
        const at = view.posAtCoords({ x: event.clientX, y: event.clientY }) ?? view.state.selection.main.head;
        return acceptFiles(view, findImages(event.dataTransfer), at);
      },
      paste: (event, view) => acceptFiles(view, findPastedImages(event.clipboardData), view.state.selection.main.head),
    }),
  ];
}

function createLanguage(variables: readonly Variable[]): Extension {
  const completions = variables.map(({ name, about }) => ({ label: name, detail: about, type: 'variable' }));
  return liquid({ base: html({ autoCloseTags: true }), variables: completions });
}

/**
 * Replaces the text after a change from outside the editor. The parent returns typed text unchanged; then this function
 * replaces nothing, and the cursor does not move.
 */
export function replaceText(view: EditorView, value: string): void {
  const current = view.state.doc.toString();
  if (current === value) return;
  view.dispatch({ changes: { from: 0, to: current.length, insert: value }, annotations: Transaction.remote.of(true) });
}

/** Sets the variables that are completed between the braces. */
export function showVariables(view: EditorView, variables: readonly Variable[]): void {
  view.dispatch({ effects: language.reconfigure(createLanguage(variables)) });
}

/**
 * Marks the error at the position that the API returned: the Liquid or the word there, or else the rest of the line.
 * Without an error, removes the mark.
 */
export function showFault(view: EditorView, fault: EmailFault | undefined): void {
  view.dispatch(setDiagnostics(view.state, fault ? [toDiagnostic(view.state, fault)] : []));
}

function toDiagnostic({ doc }: EditorState, { line: lineNumber = 1, column = 1, message }: EmailFault): Diagnostic {
  const line = doc.line(Math.min(Math.max(lineNumber, 1), doc.lines));
  const from = Math.min(line.from + column - 1, line.to);
  const restOfLine = doc.sliceString(from, line.to);
  const length = /^(\{[{%].*?[%}]\}|\S+)/.exec(restOfLine)?.[0].length ?? restOfLine.length;
  return { from, to: Math.min(from + Math.max(length, 1), doc.length), severity: 'error', message };
}
