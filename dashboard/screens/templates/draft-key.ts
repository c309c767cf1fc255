/** Where this browser keeps what was written on a template and not saved. */
export function draftKey(projectId: string, templateId: string): string {
  return `tidings draft ${projectId} template ${templateId}`;
}
