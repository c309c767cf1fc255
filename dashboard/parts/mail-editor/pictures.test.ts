import { describe, expect, it } from 'vitest';
import { altOf, pictureTag } from './pictures.ts';

describe('the tag of a picture', () => {
  it('says its sides, at most those of a mail', () => {
    const tag = pictureTag({
      url: 'https://m.example/assets/aa',
      width: 1200,
      height: 401,
      filename: 'spring-sale.png',
    });
    expect(tag).toContain('width="600" height="201" alt="spring sale"');
  });

  it('lets no name out of its attribute', () => {
    const tag = pictureTag({ url: 'https://m.example/a', width: 2, height: 2, filename: '"><script>x.png' });
    expect(tag).toContain('alt="&quot;>&lt;script>x"');
  });

  it('has no words that a camera made', () => {
    expect(['IMG_0012.jpg', 'image.png', 'DSC-77.jpeg', null].map(altOf)).toEqual(['', '', '', '']);
  });
});
