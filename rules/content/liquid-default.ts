/**
 * Converts `x ?? word` and `x ?? "some words"` in an output expression to Liquid's `x | default: "…"`. `??` may be
 * before, between or after filters. A bare word is text, not a variable. `??` inside quotes does not change. Source:
 * contract §4.11 Fallbacks.
 */
export function rewriteDefaults(expression: string): string {
  let out = '';
  let at = 0;
  while (at < expression.length) {
    const end = findOperator(expression, at, '??');
    out += expression.slice(at, end);
    if (end === expression.length) break;
    const fallback = readFallback(expression, end + 2);
    out = `${out.trimEnd()} | default: ${fallback.literal}`;
    at = fallback.end;
  }
  return out;
}

function readFallback(expression: string, from: number): { literal: string; end: number } {
  const start = from + (/^\s*/.exec(expression.slice(from))?.[0].length ?? 0);
  const quote = expression[start];
  if (quote === '"' || quote === "'") {
    const close = expression.indexOf(quote, start + 1);
    const end = close < 0 ? expression.length : close + 1;
    return { literal: expression.slice(start, end), end };
  }
  const end = Math.min(findOperator(expression, start, '|'), findOperator(expression, start, '??'));
  const word = expression.slice(start, end).trim();
  return { literal: word.includes('"') ? `'${word}' ` : `"${word}" `, end };
}

/** Returns the index of the next `operator` outside quotes, or the length of the expression. */
function findOperator(expression: string, from: number, operator: string): number {
  let quote = '';
  for (let i = from; i < expression.length; i++) {
    const char = expression[i] ?? '';
    if (quote) {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") {
      quote = char;
    } else if (expression.startsWith(operator, i)) {
      return i;
    }
  }
  return expression.length;
}
