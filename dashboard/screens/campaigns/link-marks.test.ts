import { expect, it } from 'vitest';
import { markLinks, showMarks } from './link-marks.ts';

const LINKS = [
  { url: 'https://a.test/?x={{ id }}&y=1', label: '3' },
  { url: 'https://b.test/', label: '0' },
];

it('marks each link that is in the list, however it is written, and no other', () => {
  const body = `<a href="https://a.test/?x={{id}}&amp;y=1">a</a><a class=x HREF = 'https://b.test/'>b</a><a href="mailto:x@y.z">c</a>`;
  expect(markLinks(body, LINKS)).toBe(
    `<a data-tidings-link="0" href="https://a.test/?x={{id}}&amp;y=1">a</a><a class=x data-tidings-link="1" HREF = 'https://b.test/'>b</a><a href="mailto:x@y.z">c</a>`,
  );
});

it('shows the number of clicks after each marked link', () => {
  const html = showMarks(
    '<p><a class="x" data-tidings-link="1" href="https://b.test/"><img onerror="x"></a> <a>c</a></p>',
    [
      { url: 'a', label: '3' },
      { url: 'b', label: '<7>' },
    ],
  );
  expect(html).toMatch(/<img onerror="x"><\/a><span style="[^"]+">&lt;7><\/span> <a>c<\/a>/);
});
