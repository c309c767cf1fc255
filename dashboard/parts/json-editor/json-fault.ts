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
    return { fault: createFault(text, new Scanner(text).findErrorOffset()) };
  }
}

function createFault(text: string, at: number): JsonFault {
  const lines = text.slice(0, at).split('\n');
  return { at, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const NUMBER_OR_WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

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

  findErrorOffset(): number {
    try {
      if (this.#value()) this.#takeMatch(SPACE);
    } catch {
      // The nesting is deeper than the stack. The error is at or after the position that was reached.
    }
    return this.#at;
  }

  #value(): boolean {
    this.#takeMatch(SPACE);
    if (this.#takeChar('{')) return this.#list('}', () => this.#field());
    if (this.#takeChar('[')) return this.#list(']', () => this.#value());
    return this.#takeMatch(STRING) || this.#takeMatch(NUMBER_OR_WORD);
  }

  #field(): boolean {
    this.#takeMatch(SPACE);
    if (!this.#takeMatch(STRING)) return false;
    this.#takeMatch(SPACE);
    return this.#takeChar(':') && this.#value();
  }

  #list(end: string, item: () => boolean): boolean {
    this.#takeMatch(SPACE);
    if (this.#takeChar(end)) return true;
    while (item()) {
      this.#takeMatch(SPACE);
      if (this.#takeChar(end)) return true;
      if (!this.#takeChar(',')) return false;
    }
    return false;
  }

  #takeChar(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #takeMatch(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    this.#at += match?.length ?? 0;
    return match !== undefined;
  }
}
