/**
 * The only script of the frame in which an email is edited in place. The frame has an opaque origin, so this script can
 * only exchange messages with the page around it. This file is not a module and has no imports, because the frame loads
 * it as a plain script.
 */
(() => {
  const MARK = 'data-tidings';
  /** The same list as in source-blocks.ts. */
  const BLOCKS = 'p,h1,h2,h3,h4,h5,h6,li,ul,ol,blockquote,tr,table,div,section';
  const script = document.currentScript;
  const isReadOnly = script?.dataset.readOnly === 'true';
  const report = (message) => window.parent.postMessage({ from: 'tidings-visual', ...message }, '*');

  const partOf = (node) => {
    const element = node instanceof Element ? node : node?.parentElement;
    return element?.closest(`[${MARK}]`) ?? null;
  };
  const textOf = (node) => {
    const element = node instanceof Element ? node : node?.parentElement;
    return element?.closest(`[${MARK}-text]`) ?? null;
  };
  const numberOf = (element) => Number(element.getAttribute(MARK));

  /** Returns the text as people read it, with its line breaks. */
  function readText(node) {
    let text = '';
    for (const child of node.childNodes) {
      if (child.nodeName === 'BR') text += '\n';
      else text += child.nodeType === Node.TEXT_NODE ? child.data : readText(child);
    }
    return text;
  }

  /** Returns the number of characters in the element before this position of the selection. */
  function countCharactersBefore(element, node, offset) {
    const range = document.createRange();
    range.selectNodeContents(element);
    range.setEnd(node, offset);
    return [...range.toString()].length;
  }

  /** Returns the variable that contains an element or a text. */
  const variableOf = (node) => {
    const element = node instanceof Element ? node : node?.parentElement;
    return element?.closest(`[${MARK}-variable]`) ?? null;
  };

  /** Shows the source of the variable that contains the selection, and chips for all other variables. */
  function openVariable() {
    const selection = document.getSelection();
    const open = selection?.rangeCount > 0 ? variableOf(selection.getRangeAt(0).commonAncestorContainer) : null;
    for (const variable of document.querySelectorAll(`[${MARK}-variable]`)) {
      variable.toggleAttribute(`${MARK}-open`, variable === open);
    }
  }

  /** Replaces the text of an element that the user has left, by the same text with chips. */
  function showChips(id, html) {
    const text = document.querySelector(`[${MARK}="${id}"][${MARK}-text]`);
    if (text && text !== document.activeElement && text.innerHTML !== html) text.innerHTML = html;
  }

  function reportCursor() {
    openVariable();
    const selection = document.getSelection();
    const text = selection?.anchorNode && textOf(selection.anchorNode);
    if (!selection || !text || selection.rangeCount === 0) return;
    const range = selection.getRangeAt(0);
    const ends = textOf(range.endContainer);
    const from = countCharactersBefore(text, range.startContainer, range.startOffset);
    const isWithin = textOf(range.startContainer) === text && ends === text;
    if (!isWithin) return;
    report({
      kind: 'cursor',
      id: numberOf(text),
      start: from,
      end: countCharactersBefore(text, range.endContainer, range.endOffset),
    });
  }

  function pick(element) {
    for (const old of document.querySelectorAll(`[${MARK}-picked]`)) old.removeAttribute(`${MARK}-picked`);
    element?.setAttribute(`${MARK}-picked`, '');
    report({ kind: 'picked', id: element ? numberOf(element) : null });
  }

  /** Outlines one of the blocks around the picked element or the cursor. Depth 0 is the innermost block. */
  function outline(depth) {
    for (const old of document.querySelectorAll(`[${MARK}-block]`)) old.removeAttribute(`${MARK}-block`);
    const within = document.querySelector(`[${MARK}-picked]`) ?? textOf(document.getSelection()?.anchorNode ?? null);
    let block = within?.closest(BLOCKS);
    for (let step = 0; block && step < depth; step += 1) block = block.parentElement?.closest(BLOCKS);
    block?.setAttribute(`${MARK}-block`, '');
  }

  function start() {
    for (const element of document.querySelectorAll(`[${MARK}-text]`)) {
      if (isReadOnly) continue;
      element.setAttribute('contenteditable', 'plaintext-only');
      element.setAttribute('spellcheck', 'true');
    }
    for (const tag of document.querySelectorAll(`:is(img,hr)[${MARK}]`)) tag.setAttribute('tabindex', '0');
    new ResizeObserver(reportHeight).observe(document.documentElement);
    report({ kind: 'ready' });
  }

  let width = window.innerWidth;
  let isFitting = false;
  /** Reports the height of the email, so that the page scrolls and not the frame. */
  function reportHeight() {
    // An email that is as high as its frame would grow with each report.
    if (!isFitting) report({ kind: 'height', px: Math.ceil(document.documentElement.getBoundingClientRect().height) });
  }
  window.addEventListener('resize', () => {
    isFitting = window.innerWidth === width;
    width = window.innerWidth;
    setTimeout(() => {
      isFitting = false;
    }, 0);
  });

  /** Selects a text of the email, so that the next key replaces it. */
  function select(id) {
    const text = document.querySelector(`[${MARK}="${id}"][${MARK}-text]`);
    if (!text) return;
    window.focus();
    text.focus();
    document.getSelection()?.selectAllChildren(text);
    text.scrollIntoView({ block: 'nearest' });
  }

  document.addEventListener('input', (event) => {
    const text = textOf(event.target);
    if (text) report({ kind: 'typed', id: numberOf(text), text: readText(text) });
  });
  document.addEventListener('selectionchange', reportCursor);
  document.addEventListener('focusout', (event) => {
    const text = textOf(event.target);
    if (text && !isReadOnly) report({ kind: 'left', id: numberOf(text) });
  });
  document.addEventListener(
    'click',
    (event) => {
      // Links do not open while the email is edited.
      event.preventDefault();
      const part = partOf(event.target);
      pick(part?.closest(`a[${MARK}], img[${MARK}], hr[${MARK}]`) ?? null);
      const variable = variableOf(event.target);
      // Selects the source, which the chip hides from the mouse.
      if (variable && !isReadOnly && !variable.hasAttribute(`${MARK}-open`)) {
        document.getSelection()?.selectAllChildren(variable.firstElementChild ?? variable);
      }
    },
    true,
  );
  document.addEventListener('submit', (event) => event.preventDefault(), true);
  document.addEventListener('keydown', (event) => {
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === 'Enter') {
      event.preventDefault();
      if (event.target.matches(`:is(img,hr)[${MARK}]`)) pick(event.target);
      else document.execCommand('insertLineBreak');
    } else if (isCommand && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      pick(partOf(event.target)?.closest(`a[${MARK}]`) ?? null);
    } else if (isCommand && ['s', 'b', 'i'].includes(event.key.toLowerCase())) {
      event.preventDefault();
      report({ kind: 'key', key: event.key.toLowerCase() });
    }
  });
  /** Moves the cursor to a drop position, if the position is in a text. */
  function moveCursorTo(x, y) {
    const position = document.caretPositionFromPoint?.(x, y);
    const range = position ? undefined : document.caretRangeFromPoint?.(x, y);
    const [node, offset] = position
      ? [position.offsetNode, position.offset]
      : [range?.startContainer, range?.startOffset];
    if (!node || !textOf(node)) return;
    document.getSelection()?.collapse(node, offset);
    reportCursor();
  }

  document.addEventListener('drop', (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    moveCursorTo(event.clientX, event.clientY);
    report({ kind: 'files', files });
  });
  document.addEventListener('paste', (event) => {
    const { files, types } = event.clipboardData ?? { files: [], types: [] };
    // Spreadsheets and word processors add an image of the copied text. In that case the text is pasted.
    if (files.length === 0 || ['text/html', 'text/plain'].every((type) => types.includes(type))) return;
    event.preventDefault();
    report({ kind: 'files', files: [...files] });
  });
  document.addEventListener('dragover', (event) => event.preventDefault());
  window.addEventListener('message', (event) => {
    if (event.source !== window.parent) return;
    if (event.data?.kind === 'outline') outline(Number(event.data.depth));
    if (event.data?.kind === 'select') select(Number(event.data.id));
    if (event.data?.kind === 'chips') showChips(Number(event.data.id), String(event.data.html));
    if (event.data?.kind !== 'insert') return;
    window.focus();
    if (textOf(document.getSelection()?.anchorNode ?? null)) document.execCommand('insertText', false, event.data.text);
  });
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
})();
