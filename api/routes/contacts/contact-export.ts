import { createRoute, z } from '@hono/zod-openapi';
import {
  type ExportedRecord,
  exportContactEvents,
  exportContactExecutions,
  exportContactSegments,
  exportContactSms,
  exportContactSuppressions,
} from '../../../db/contacts/contact-export.ts';
import { getContact } from '../../../db/contacts/contacts.ts';
import { listConfirmationProofs } from '../../../db/contacts/double-opt-in.ts';
import { listEmails } from '../../../db/emails/emails.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { IdParams, Instant } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { toStream } from '../../http/stream.ts';
import { toEmailItem } from '../emails/response.ts';
import { CONTACT_EXAMPLE, ContactRecord, toContactResponse } from './response.ts';

const EMAILS_PER_PAGE = 100;

const RecordList = z.array(z.record(z.string(), z.unknown()));

const ContactExport = z
  .object({
    exportedAt: Instant,
    contact: ContactRecord,
    suppressions: RecordList,
    emails: RecordList.openapi({ description: 'Same as in `GET /v1/emails`, without bodies' }),
    sms: RecordList,
    events: RecordList,
    executions: RecordList.openapi({ description: 'Executions with their steps' }),
    segments: RecordList,
    optIns: RecordList.openapi({
      description:
        'Proofs of double opt-in: `at`, `ip`, the `text` that the contact agreed to, and `emailId` of the confirmation email',
    }),
  })
  .openapi('ContactExport', {
    example: {
      exportedAt: '2026-01-01T12:00:00.000Z',
      contact: CONTACT_EXAMPLE,
      suppressions: [],
      emails: [],
      sms: [],
      events: [],
      executions: [],
      segments: [],
      optIns: [],
    },
  });

const contactDataRoute = createRoute({
  method: 'get',
  path: '/contacts/{id}/export',
  operationId: 'exportContact',
  tags: ['Contacts'],
  summary: 'Export all data of a contact',
  description:
    'Returns everything that the project stores about the contact, for example to answer a data access request: the contact, its suppressions, emails, SMS, events, executions with their steps, segments, and proofs of double opt-in. The response is one JSON object, which is streamed. It contains no secrets of the project.',
  security: allowScopes('contacts:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(ContactExport) },
});

/** Registers the export of everything about a contact, as one JSON object. */
export function registerContactDataRoutes(app: App, { reads, compute, config }: Deps): void {
  const suppressionKey = deriveKey(config.secretKey, 'suppression');

  app.openapi(contactDataRoute, async (c) => {
    const { projectId } = c.var;
    const contact = await getContact(reads, { projectId, id: c.req.valid('param').id });
    const ref = { projectId, id: contact.id };
    const runInTurn = <T>(run: () => Promise<T>): Promise<T> =>
      compute.runLargeRead({ projectId, kind: 'contacts.dossier' }, run);
    const single = (list: () => Promise<ExportedRecord[]>) =>
      readPages(async (after) => (after ? [] : runInTurn(list)));
    const paged = (list: (p: typeof ref & { after?: string }) => Promise<ExportedRecord[]>) =>
      readPages((after) => runInTurn(() => list({ ...ref, ...(after !== undefined && { after }) })));

    async function* emailPages(): Records {
      let cursor: string | undefined;
      do {
        const query = { projectId, mode: 'all' as const, to: contact.email, limit: EMAILS_PER_PAGE, cursor };
        const page = await runInTurn(() => listEmails(reads, query));
        yield page.items.map(toEmailItem);
        cursor = page.cursor ?? undefined;
      } while (cursor);
    }

    const sections: Record<string, Records> = {
      suppressions: single(() => exportContactSuppressions(reads, suppressionKey, { projectId, email: contact.email })),
      emails: emailPages(),
      sms: paged((p) => exportContactSms(reads, p)),
      events: paged((p) => exportContactEvents(reads, p)),
      executions: paged((p) => exportContactExecutions(reads, p)),
      segments: single(() => exportContactSegments(reads, ref)),
      optIns: (async function* () {
        yield await runInTurn(() => listConfirmationProofs(reads, { projectId, contactId: contact.id }));
      })(),
    };
    const head = { exportedAt: new Date().toISOString(), contact: toContactResponse(contact) };
    c.header('content-type', 'application/json');
    c.header('content-disposition', `attachment; filename="contact-${contact.id}.json"`);
    // The body matches the schema, but it is streamed, so the type is not checked.
    return c.body(toStream(generateJson(head, sections)), 200) as never;
  });
}

type Records = AsyncGenerator<object[]>;

async function* readPages(next: (after: string | undefined) => Promise<ExportedRecord[]>): Records {
  let page = await next(undefined);
  while (page.length > 0) {
    yield page;
    page = await next(page.at(-1)?.id);
  }
}

/** Yields one JSON object: `head`, then each section as an array. */
async function* generateJson(head: object, sections: Record<string, Records>): AsyncGenerator<string> {
  yield JSON.stringify(head).slice(0, -1);
  for (const [name, pages] of Object.entries(sections)) {
    yield `,${JSON.stringify(name)}:[`;
    let isFirst = true;
    for await (const page of pages) {
      if (page.length === 0) continue;
      yield `${isFirst ? '' : ','}${page.map((record) => JSON.stringify(record)).join(',')}`;
      isFirst = false;
    }
    yield ']';
  }
  yield '}';
}
