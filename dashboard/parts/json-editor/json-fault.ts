/** The position at which a text stops being valid JSON. */
export interface JsonFault {
  /** Offset from the start of the text. */
  at: number;
  line: number;
  column: number;
}

/** Reads a text as JSON: its value, or the position of its first error. An empty text has no value. */
export function readJson(text: string): { value: unknown } | { fault: JsonFault } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { fault: createFault(text, new Scanner(text).stop()) };
  }
}

function createFault(text: string, at: number): JsonFault {
  const lines = text.slice(0, at).split('\n');
  return { at, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const OTHER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Finds the position at which a text stops being valid JSON. The messages of browsers name the position in different
 * ways, or not at all.
 */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  stop(): number {
    try {
      if (this.#value()) this.#take(SPACE);
    } catch {
      // The nesting is deeper than the stack. `JSON.parse` failed near the same position.
    }
    return this.#at;
  }

  #value(): boolean {
    this.#take(SPACE);
    if (this.#is('{')) return this.#list('}', () => this.#field());
    if (this.#is('[')) return this.#list(']', () => this.#value());
    return this.#take(STRING) || this.#take(OTHER);
  }

  #field(): boolean {
    this.#take(SPACE);
    if (!this.#take(STRING)) return false;
    this.#take(SPACE);
    return this.#is(':') && this.#value();
  }

  #list(end: string, item: () => boolean): boolean {
    this.#take(SPACE);
    if (this.#is(end)) return true;
    while (item()) {
      this.#take(SPACE);
      if (this.#is(end)) return true;
      if (!this.#is(',')) return false;
    }
    return false;
  }

  #is(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #take(what: RegExp): boolean {
    what.lastIndex = this.#at;
    const found = what.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found !== undefined;
  }
}
