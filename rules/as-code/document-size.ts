/**
 * The maximum size of a project document, as JSON: the body of `/project/apply` and an export. Source: contract §2.22
 * Rights of an apply.
 */
export const DOCUMENT_MAX_BYTES = 8 * 1024 * 1024;
