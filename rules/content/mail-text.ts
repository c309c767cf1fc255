/** The templates of a mail: Liquid that is rendered for each recipient. */
export interface MailTemplates {
  subject: string;
  body: string;
  /** What a mailbox shows beside the subject, as text. */
  preheader: string | null;
}

/**
 * What a mail says and from whom, as its author writes it: the same of templates, campaigns, requests and notices. A
 * field that is added here is one of all of them. `From` is `string | null` where the sender may come from elsewhere.
 */
export interface MailText<From = string> extends MailTemplates {
  from: From;
  fromName: string | null;
  replyTo: string | null;
}

/** The same where what may be null may be absent. */
export type NullsOptional<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: T[K] | undefined;
};

/** What is said by something that says more. */
export function pickMailText<From>(text: MailText<From>): MailText<From> {
  const { subject, body, preheader, from, fromName, replyTo } = text;
  return { subject, body, preheader, from, fromName, replyTo };
}

/** What a mail says of which its author says nothing more. */
export const NO_TEXT: MailText<null> = {
  subject: '',
  body: '',
  preheader: null,
  from: null,
  fromName: null,
  replyTo: null,
};
