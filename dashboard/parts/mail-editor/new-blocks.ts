/** A block that the palette adds. An image is uploaded first. */
export type NewBlock = 'heading' | 'text' | 'image' | 'button' | 'columns' | 'list' | 'divider' | 'footer';

const TEXT = 'margin:0 0 16px;font-size:16px;line-height:24px;font-weight:normal';
const CELL = 'width="50%" valign="top" style="padding:0 8px"';

/**
 * The markup of each block except the image. Text inherits its fonts and colors from the email. Tables and inline
 * styles are used because Outlook needs them.
 */
export const NEW_BLOCKS: Record<Exclude<NewBlock, 'image'>, string> = {
  heading: '<h2 style="margin:0 0 12px;font-size:24px;line-height:32px;font-weight:bold">Heading</h2>',
  text: `<p style="${TEXT}">Write your text here.</p>`,
  button:
    '<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px"><tr>' +
    '<td bgcolor="#0c6673" style="border-radius:6px"><a href="https://example.com" style="display:inline-block;' +
    'padding:12px 24px;font-size:16px;font-weight:bold;color:#ffffff;text-decoration:none">Read more</a></td>' +
    '</tr></table>',
  columns:
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>' +
    `<td ${CELL}><p style="${TEXT}">Left column</p></td><td ${CELL}><p style="${TEXT}">Right column</p></td>` +
    '</tr></table>',
  list: `<ul style="${TEXT};padding-left:24px"><li>First</li><li>Second</li></ul>`,
  divider: '<div style="padding:8px 0 24px"><hr style="margin:0;border:0;border-top:1px solid #c9cdd4"></div>',
  footer:
    '<p style="margin:0;font-size:12px;line-height:18px;color:#565c68">You get this email because you signed up. ' +
    '<a href="{{unsubscribeUrl}}" style="color:#565c68">Unsubscribe</a></p>',
};

/** Returns the block of an uploaded image from its tag. */
export function imageBlock(tag: string): string {
  return `<div style="margin:0 0 16px">${tag}</div>`;
}
