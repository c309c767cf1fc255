import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyParser, SmtpProtocolError } from './reply-parser.ts';

function parse(chunks: (string | Buffer)[], textFrom = 0): [number, string][] {
  const replies: [number, string][] = [];
  const parser = new ReplyParser((code, text) => replies.push([code, text]));
  parser.textFrom = textFrom;
  for (const chunk of chunks) parser.feed(Buffer.from(chunk), Buffer.from(chunk).length);
  return replies;
}

describe('replies', () => {
  it('are read one by one, also with several lines or without text', () => {
    expect(parse(['220 hello\r\n250-one\r\n250-two\r\n250 three\r\n354\r\n250 \r\n550\n'])).toEqual([
      [220, 'hello'],
      [250, 'one\ntwo\nthree'],
      [354, ''],
      [250, ''],
      [550, ''],
    ]);
  });

  it('do not depend on how the stream of bytes is split', () => {
    const stream = Buffer.from('250-größe\r\n250 PIPELINING\r\n250 2.1.0 Ok\r\n550 5.1.1 Nö\r\n354 go\r\n');
    const uncut = parse([stream]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: stream.length }), { maxLength: 8 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), stream.length];
        expect(parse(at.slice(1).map((end, i) => stream.subarray(at[i], end)))).toEqual(uncut);
      }),
    );
  });

  it('are read as UTF-8, and as Windows-1252 if they are not UTF-8', () => {
    const text = 'Empfänger unbekannt';
    expect(parse([Buffer.from(`550 ${text}\r\n`), Buffer.from(`550 ${text}\r\n`, 'latin1')])).toEqual([
      [550, text],
      [550, text],
    ]);
  });

  it('keep their text only if their code is at least `textFrom`', () => {
    expect(parse(['250 fine\r\n550-no\r\n550 never\r\n'], 400)).toEqual([
      [250, ''],
      [550, 'no\nnever'],
    ]);
  });

  it('contain no NUL, which Postgres cannot store', () => {
    expect(parse(['550 5.1.1 N\0o\r\n'])).toEqual([[550, '5.1.1 No']]);
  });

  it('are read only from the given length of the buffer, because the rest belongs to an older read', () => {
    const replies: number[] = [];
    const parser = new ReplyParser((code) => replies.push(code));
    parser.feed(Buffer.from('250 Ok\r\n550 stale\r\n'), 8);
    expect(replies).toEqual([250]);
  });

  it('are ignored if they were buffered when `dropBuffered` is called', () => {
    const replies: number[] = [];
    const parser: ReplyParser = new ReplyParser((code) => {
      replies.push(code);
      parser.dropBuffered();
    });
    const bytes = Buffer.from('220 go\r\n250 forged\r\n25');
    parser.feed(bytes, bytes.length);
    parser.feed(Buffer.from('250 real\r\n'), 10);
    expect(replies).toEqual([220, 250]);
  });
});

describe('input that is not a reply', () => {
  it.each(['hello\r\n', '99\r\n', '650 six\r\n', '\r\n', 'HTTP/1.1 200 OK\r\n'])(
    '%j is not a reply of a server, and throws an error',
    (text) => {
      expect(() => parse([text])).toThrow(SmtpProtocolError);
    },
  );

  it('is rejected before it uses much memory if it does not end', () => {
    expect(() => parse(Array(10).fill('2'.repeat(1000)))).toThrow('a line without end');
    expect(() => parse(['250-more\r\n'.repeat(1000)])).toThrow('a reply without end');
  });
});
