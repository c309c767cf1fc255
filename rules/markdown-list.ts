/** The maximum width of lines in generated Markdown pages, in characters. */
const WIDTH = 110;

/** Wraps a text as a list item of a Markdown page. Inline code that contains spaces may be split over two lines. */
export function wrapListItem(text: string): string {
  const lines = ['-'];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + 1 + word.length <= WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines.join('\n');
}
