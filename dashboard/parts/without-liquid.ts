/** Values of an example contact, by the names that fields usually have, in lower case without separators. */
const EXAMPLES: Readonly<Record<string, string>> = {
  firstname: 'Maren',
  givenname: 'Maren',
  lastname: 'Vogt',
  familyname: 'Vogt',
  surname: 'Vogt',
  name: 'Maren Vogt',
  fullname: 'Maren Vogt',
  email: 'maren@example.com',
  company: 'Northwind',
  city: 'Berlin',
  country: 'Germany',
  plan: 'Pro',
  product: 'Smoked chai',
  orderid: '10482',
  ordernumber: '10482',
  orders: '3',
  amount: '24.00',
  total: '24.00',
  price: '24.00',
  code: '4711',
};
/** The value of a field whose name does not reveal its meaning. */
const UNKNOWN = '…';

/**
 * Returns a subject or body roughly as an example contact reads it: Liquid tags are removed, and an output becomes
 * its example value or its fallback, never the name of a field. Only for lists and thumbnails; the API renders emails
 * that are sent.
 */
export function withoutLiquid(body: string): string {
  return body
    .replaceAll(/\{%-?\s*comment[\s\S]*?endcomment\s*-?%\}/g, '')
    .replaceAll(/\{%[\s\S]*?%\}/g, '')
    .replaceAll(/\{\{([\s\S]*?)\}\}/g, (_, expression: string) => renderExpression(expression));
}

function renderExpression(expression: string): string {
  const [name = '', fallback] = expression.replaceAll(/^-|-$/g, '').split('??');
  const value =
    getExampleValue(name.split('|')[0] ?? '') ?? fallback ?? /default:\s*([^|]+)/.exec(expression)?.[1] ?? UNKNOWN;
  // Rendering would escape the value here, so the text must not end an attribute or start a tag.
  return value
    .trim()
    .replaceAll(/^(['"])(.*)\1$/g, '$2')
    .replaceAll(/[<>"'&]/g, '');
}

/** Returns the example value of a path such as `data.order_id`, by its last name. A quoted text is its own value. */
function getExampleValue(path: string): string | undefined {
  const name = path.trim();
  if (/^(['"]).*\1$/.test(name)) return name;
  const key = (name.split('.').at(-1) ?? '').toLowerCase().replaceAll(/[_\-\s]/g, '');
  if (/url$|link$/.test(key)) return '#';
  return Object.hasOwn(EXAMPLES, key) ? EXAMPLES[key] : undefined;
}
