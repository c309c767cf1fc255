/** Returns a template that renders exactly this text. A brace that would start Liquid is written as a Liquid output. */
export function toVerbatimTemplate(text: string): string {
  return /\{[{%]/.test(text) ? text.replace(/\{(?=[{%])/g, "{{ '{' }}") : text;
}
