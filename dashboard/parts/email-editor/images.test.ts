import { describe, expect, it } from 'vitest';
import { createImageTag, findPastedImages, suggestAltText } from './images.ts';

describe('the tag of an image', () => {
  it('has its width and height, at most the width of an email', () => {
    const tag = createImageTag({
      url: 'https://m.example/assets/aa',
      width: 1200,
      height: 401,
      filename: 'spring-sale.png',
    });
    expect(tag).toContain('width="600" height="201" alt="spring sale"');
  });

  it('escapes a name in its attribute', () => {
    const tag = createImageTag({ url: 'https://m.example/a', width: 2, height: 2, filename: '"><script>x.png' });
    expect(tag).toContain('alt="&quot;>&lt;script>x"');
  });

  it("has no alternative text from a camera's file name", () => {
    expect(['IMG_0012.jpg', 'image.png', 'DSC-77.jpeg', null].map(suggestAltText)).toEqual(['', '', '', '']);
  });
});

describe('pasting', () => {
  const png = new File(['x'], 'image.png', { type: 'image/png' });
  const pasted = (types: string[]) => findPastedImages({ types, files: [png] } as unknown as DataTransfer);

  it.each([
    ['from a page or a screenshot', ['text/html', 'Files'], 1],
    ['as a file from a folder', ['text/plain', 'Files'], 1],
    ['from a spreadsheet, which shows its cells as an image too', ['text/plain', 'text/html', 'text/rtf', 'Files'], 0],
  ])('%s', (_, types, images) => {
    expect(pasted(types)).toHaveLength(images);
  });
});
