import type { Generated } from 'kysely';
import type { EmailText } from '../../rules/content/email-text.ts';
import type { GeneratedTimestamp, NullableTimestamp } from './columns.ts';

/** The column of each field in the text of an email. All columns are text. */
export const EMAIL_TEXT_COLUMNS = {
  subject: 'subject',
  body: 'body',
  preheader: 'preheader',
  from: 'from_email',
  fromName: 'from_name',
  replyTo: 'reply_to',
} as const satisfies Record<keyof EmailText, string>;

/** The columns with the text of an email, which `templates`, `campaigns` and `contents` have. */
export type EmailTextColumns<From = string> = {
  [Field in keyof EmailText as (typeof EMAIL_TEXT_COLUMNS)[Field]]: EmailText<From>[Field];
};

export type EmailType = 'TRANSACTIONAL' | 'MARKETING';

/** Content of emails: templates, and the content of sent emails. */
export interface ContentsTables {
  templates: TemplatesTable;
  contents: ContentsTable;
  erased_contents: ErasedContentsTable;
}

export interface TemplatesTable extends EmailTextColumns<string | null> {
  id: Generated<string>;
  project_id: string;
  name: string;
  slug: Generated<string>;
  description: string | null;
  type: EmailType;
  topic_id: string | null;
  /** Hashes of the images in the body. Triggers of the table set the column. */
  asset_hashes: Generated<string[] | null>;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}

export interface ContentsTable extends EmailTextColumns {
  id: Generated<string>;
  project_id: string;
  hash: Buffer;
  type: EmailType;
  template_id: string | null;
  topic_id: string | null;
  asset_hashes: Generated<string[] | null>;
  created_at: GeneratedTimestamp;
}

export interface ErasedContentsTable {
  content_id: string;
  project_id: string;
  /** When the content got a new hash, so that new emails cannot find it. Null before that. */
  retired_at: NullableTimestamp;
}
