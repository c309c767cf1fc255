/** The templates of an email: Liquid that is rendered for each recipient. */
export interface EmailTemplates {
  subject: string;
  body: string;
  /** The preview text that an email client shows next to the subject. */
  preheader: string | null;
}

/**
 * The author's text and sender of an email, for templates, campaigns, requests and notices. A field that is added here
 * applies to all four. `From` is `string | null` if the sender may be set elsewhere.
 */
export interface EmailText<From = string> extends EmailTemplates {
  from: From;
  fromName: string | null;
  replyTo: string | null;
}

/** A type in which the nullable fields of `T` may be absent. */
export type NullsOptional<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: T[K] | undefined;
};

/** Picks the text fields of a larger object. */
export function pickEmailText<From>(text: EmailText<From>): EmailText<From> {
  const { subject, body, preheader, from, fromName, replyTo } = text;
  return { subject, body, preheader, from, fromName, replyTo };
}

/** The text fields of an email whose author sets no text. */
export const NO_TEXT: EmailText<null> = {
  subject: '',
  body: '',
  preheader: null,
  from: null,
  fromName: null,
  replyTo: null,
};
