import { describe, expect, it } from 'vitest';
import { readImage } from './image.ts';

const base64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'));
const GIF = base64('R0lGODlhAgADAIAAAAAAAP///yH5BAEAAAAALAAAAAACAAMAAAICRF4AOw==');
const PNG = base64('iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAC0lEQVR4nGNgQAUAABUAATb+2l0AAAAASUVORK5CYII=');
const WEBP_LOSSY = base64('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoCAAMADsD+JaQAA3AAAAAA');
const createWebp = (chunk: string, rest: number[]) =>
  Uint8Array.from([...Buffer.from(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0`), ...rest, ...new Array(20).fill(0)]);
const createJpeg = (...segments: number[][]) => Uint8Array.from([0xff, 0xd8, ...segments.flat(), 0, 0, 0, 0]);
const APP0 = [0xff, 0xe0, 0, 4, 1, 2];
const SOF2 = [0xff, 0xc2, 0, 11, 8, 0, 3, 0, 2, 1, 1, 0x11, 0];

describe('an image', () => {
  it.each([
    ['image/png', PNG],
    ['image/gif', GIF],
    ['image/webp', WEBP_LOSSY],
    ['image/webp', createWebp('VP8L', [0x2f, 0x01, 0x80, 0x00, 0x00])],
    ['image/webp', createWebp('VP8X', [0, 0, 0, 0, 1, 0, 0, 2, 0, 0])],
    ['image/jpeg', createJpeg(APP0, SOF2)],
    ['image/jpeg', createJpeg(APP0, [0xff], SOF2)],
  ])('is recognized as %s by its bytes, with width and height', (type, bytes) => {
    expect(readImage(bytes)).toEqual({ type, width: 2, height: 3 });
  });

  it.each([
    ['nothing', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="3"/>'],
    ['HTML', '<!doctype html><img src=x onerror=alert(1)>'],
    ['text that starts like a GIF', 'GIF89a'],
    ['a PDF', `%PDF-1.7 ${'x'.repeat(40)}`],
    ['a RIFF file with audio', `RIFF\0\0\0\0WAVEfmt ${'x'.repeat(40)}`],
  ])('an image is not %s', (_, text) => {
    expect(readImage(new Uint8Array(Buffer.from(text)))).toBeUndefined();
  });

  it('cannot have a side of zero, or a side above the maximum', () => {
    expect(readImage(createJpeg([0xff, 0xc0, 0, 11, 8, 0, 0, 0, 2, 1, 1, 0x11, 0]))).toBeUndefined();
    expect(readImage(createJpeg([0xff, 0xc0, 0, 11, 8, 0xff, 0xff, 0, 2, 1, 1, 0x11, 0]))).toBeUndefined();
  });

  it('that is truncated to less than 13 bytes is not read as an image, and no truncation causes an error', () => {
    for (const whole of [PNG, GIF, WEBP_LOSSY, createJpeg(APP0, SOF2)]) {
      for (let length = 0; length < 13; length += 1) expect(readImage(whole.slice(0, length))).toBeUndefined();
      for (let length = 13; length < whole.length; length += 1) readImage(whole.slice(0, length));
    }
  });

  it('with invalid segments is not read as an image', () => {
    expect(readImage(createJpeg([0xff, 0xe0, 0, 0], SOF2))).toBeUndefined();
    expect(readImage(createJpeg([0xff, 0xda, 0, 4, 1, 2], SOF2))).toBeUndefined();
  });
});
