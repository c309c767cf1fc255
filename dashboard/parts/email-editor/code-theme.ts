import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Uses tokens of the app and `light-dark()`, so the editor follows the light and dark schemes. */
export const codeTheme = EditorView.theme({
  '&': {
    height: '100%',
    fontSize: '13px',
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
  },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--mantine-color-default-hover)',
    color: 'var(--mantine-color-dimmed)',
    border: 'none',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'light-dark(#0000000a, #ffffff0d)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'light-dark(#cfe0ff, #2b4377)',
  },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--mantine-color-default-border)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--mantine-primary-color-filled)',
    color: 'var(--mantine-color-white)',
  },
  '.cm-completionDetail': { opacity: '0.75', fontStyle: 'normal', marginLeft: '1em' },
});

/** Each color has a contrast of at least 4.5:1 with the background. */
export const codeColors = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: 'light-dark(#1e41af, #93b4fd)' },
  { tag: tags.attributeName, color: 'light-dark(#7c3d00, #f0b27a)' },
  { tag: [tags.attributeValue, tags.string], color: 'light-dark(#0b5d3b, #7fd6ad)' },
  { tag: tags.comment, color: 'light-dark(#5b6270, #9aa3b2)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.brace, tags.operator], color: 'light-dark(#8a1466, #f29ad3)' },
  { tag: [tags.variableName, tags.propertyName], color: 'light-dark(#6b21a8, #d0a9f5)' },
  { tag: [tags.number, tags.bool], color: 'light-dark(#9a3412, #fdba74)' },
]);
