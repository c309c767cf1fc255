import { describe, expect, it } from 'vitest';
import { text } from '../../text/text.ts';
import { describeFinding, formatDetails } from './findings.ts';

const message = 'A sentence of the API.';

describe('a finding', () => {
  it('has a text of the dashboard for every code', () => {
    for (const [code, expected] of Object.entries(text.emailEditor.findingTexts)) {
      expect(describeFinding({ code: code as 'slow', details: {}, message })).toBe(expected);
    }
  });

  it('about the unsubscribe link promises a footer only for marketing email', () => {
    const describeMissingLink = (footer: boolean) =>
      describeFinding({ code: 'no_unsubscribe_link', details: { footer }, message });
    expect(describeMissingLink(true)).toContain('We add a footer');
    expect(describeMissingLink(false)).toContain('no footer');
  });

  it('lists its variables, links, images and sender once each', () => {
    expect(
      formatDetails({ variables: { plan: 2 }, links: ['ftp://a', 'ftp://a'], images: ['/a.png'], from: 'a@b.test' }),
    ).toEqual(['{{plan}}: Missing for 2 contacts', 'ftp://a', '/a.png', 'a@b.test']);
    expect(formatDetails({})).toEqual([]);
  });
});
