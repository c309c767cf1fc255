/** The templates of an email: Liquid that is rendered for each recipient. */
export interface EmailTemplates {
  subject: string;
  body: string;
  /** Preview text beside the subject in a mailbox. */
  preheader: string | null;
}

/**
 * The author's text and sender of an email, for templates, campaigns, requests and notices. A new field applies to all
 * of them. `From` is `string | null` if the sender may come from elsewhere.
 */
export interface EmailText<From = string> extends EmailTemplates {
  from: From;
  fromName: string | null;
  replyTo: string | null;
}

/** The same type, in which nullable fields may be absent. */
export type NullsOptional<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: T[K] | undefined;
};

/** Picks the text fields of a larger object. */
export function pickEmailText<From>(text: EmailText<From>): EmailText<From> {
  const { subject, body, preheader, from, fromName, replyTo } = text;
  return { subject, body, preheader, from, fromName, replyTo };
}

/** The text fields of an email for which its author sets none. */
export const NO_TEXT: EmailText<null> = {
  subject: '',
  body: '',
  preheader: null,
  from: null,
  fromName: null,
  replyTo: null,
};
