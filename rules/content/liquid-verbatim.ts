/** Text as a template that says exactly this text: what would begin Liquid in it is written by an output. */
export function verbatimTemplate(text: string): string {
  return /\{[{%]/.test(text) ? text.replace(/\{(?=[{%])/g, "{{ '{' }}") : text;
}
