/** A block of markup that the palette adds. */
type PlainBlock = 'heading' | 'text' | 'button' | 'columns' | 'list' | 'divider' | 'spacer' | 'social' | 'footer';
/** A block around an image, which is uploaded first. */
export type ImageBlock = 'image' | 'product';
export type NewBlock = PlainBlock | ImageBlock;

const TEXT = 'margin:0 0 16px;font-size:16px;line-height:24px;font-weight:normal';
/** Least width of a column. Two of them are side by side in a content of 480 pixels, and stack in a narrower one. */
const COLUMN_PX = 240;
const GUTTER_PX = 16;
const IMAGE_PX = COLUMN_PX - GUTTER_PX;

const BUTTON =
  '<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px"><tr>' +
  '<td bgcolor="#0c6673" style="border-radius:6px"><a href="https://example.com" style="display:inline-block;' +
  'padding:12px 24px;font-size:16px;font-weight:bold;color:#ffffff;text-decoration:none">Read more</a></td>' +
  '</tr></table>';

/**
 * The markup of each block without an image. Fonts and colors of text come from the email around it; tables and inline
 * styles are what Outlook understands.
 */
export const NEW_BLOCKS: Record<PlainBlock, string> = {
  heading: '<h2 style="margin:0 0 12px;font-size:24px;line-height:32px;font-weight:bold">Heading</h2>',
  text: `<p style="${TEXT}">Write your text here.</p>`,
  button: BUTTON,
  columns: placeSideBySide(`<p style="${TEXT}">Left column</p>`, `<p style="${TEXT}">Right column</p>`),
  list: `<ul style="${TEXT};padding-left:24px"><li>First</li><li>Second</li></ul>`,
  divider: '<div style="padding:8px 0 24px"><hr style="margin:0;border:0;border-top:1px solid #c9cdd4"></div>',
  // Outlook draws each `hr` as a line, so in Outlook the spacer is an empty line of text with the same height.
  spacer:
    '<div><!--[if mso]><div style="font-size:1px;line-height:32px">&nbsp;</div><![endif]-->' +
    '<!--[if !mso]><!--><hr aria-hidden="true" style="height:32px;margin:0;border:0;background:none">' +
    '<!--<![endif]--></div>',
  social:
    '<p style="margin:0 0 16px;font-size:14px;line-height:24px;text-align:center">' +
    ['Website https://example.com', 'Instagram https://www.instagram.com', 'LinkedIn https://www.linkedin.com']
      .map((link) => link.split(' '))
      .map(([name, address]) => `<a href="${address}" style="color:#0c6673">${name}</a>`)
      .join(' &nbsp;·&nbsp; ') +
    '</p>',
  footer:
    '<p style="margin:0;font-size:12px;line-height:18px;color:#565c68">You get this email because you signed up. ' +
    '<a href="{{unsubscribeUrl}}" style="color:#565c68">Unsubscribe</a></p>',
};

/** Builds each block around an image from the tag of the uploaded image. */
export const IMAGE_BLOCKS: Record<ImageBlock, (tag: string) => string> = {
  image: (tag) => `<div style="margin:0 0 16px">${tag}</div>`,
  product: (tag) =>
    placeSideBySide(
      `<div style="margin:0 0 16px">${narrowImage(tag)}</div>`,
      '<h3 style="margin:0 0 4px;font-size:18px;line-height:26px;font-weight:bold">Product name</h3>' +
        `<p style="${TEXT}">Price</p>${BUTTON.replace('Read more', 'Buy now')}`,
    ),
};

export function isImageBlock(block: NewBlock): block is ImageBlock {
  return block in IMAGE_BLOCKS;
}

/**
 * Puts two contents side by side if both fit, and below each other on a phone. The markup has no media query, because
 * some email apps remove them: the columns are inline blocks that wrap. Outlook for Windows does not support inline
 * blocks. It gets a table inside conditional comments, which other email apps ignore.
 */
function placeSideBySide(left: string, right: string): string {
  const cell = '<td width="50%" valign="top">';
  const column = (content: string) =>
    `<div style="display:inline-block;width:100%;max-width:${COLUMN_PX}px;min-width:50%;vertical-align:top">` +
    `<div style="padding-right:${GUTTER_PX}px">${content}</div></div>`;
  return (
    '<div style="font-size:0">' +
    `<!--[if mso]><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>${cell}<![endif]-->` +
    `${column(left)}<!--[if mso]></td>${cell}<![endif]-->${column(right)}` +
    '<!--[if mso]></td></tr></table><![endif]--></div>'
  );
}

/** Gives an image the width of a column, because Outlook shows it at the width of its attribute. */
function narrowImage(tag: string): string {
  return tag.replace(/width="(\d+)" height="(\d+)"/, (size, width: string, height: string) => {
    const scale = IMAGE_PX / Number(width);
    return scale >= 1 ? size : `width="${IMAGE_PX}" height="${Math.round(Number(height) * scale)}"`;
  });
}
