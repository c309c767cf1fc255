/** The templates of a mail: Liquid that is rendered for each recipient. */
export interface MailTemplates {
  subject: string;
  body: string;
}

/**
 * What a mail says and from whom, as its author writes it: the same of templates, campaigns, requests and notices. A field that is added here
 * is one of all of them. `From` is `string | null` where the sender may come from elsewhere.
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
export function pickMailText<From>({ subject, body, from, fromName, replyTo }: MailText<From>): MailText<From> {
  return { subject, body, from, fromName, replyTo };
}

/** What a mail says of which its author says nothing more. */
export const NO_TEXT: MailText<null> = { subject: '', body: '', from: null, fromName: null, replyTo: null };
