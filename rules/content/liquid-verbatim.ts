/** Returns a template that renders exactly this text. Text that would start Liquid is written by an output. */
export function verbatimTemplate(text: string): string {
  return /\{[{%]/.test(text) ? text.replace(/\{(?=[{%])/g, "{{ '{' }}") : text;
}
