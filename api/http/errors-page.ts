import { ERRORS } from '../../rules/errors.ts';
import { wrapListItem } from '../../rules/markdown-list.ts';

/** Returns the page `docs/errors.md`, generated from the error catalogue. A test checks that the file is up to date. */
export function renderErrorsPage(): string {
  const items = Object.entries(ERRORS).map(([code, { status, message, suggestion }]) =>
    wrapListItem(`\`${code}\` (${status}): ${message} **Remedy:** ${suggestion}`),
  );
  return `# Errors

All errors have the same form. The outer \`message\` includes the first of \`errors\`. \`requestId\` is also in the
\`X-Request-Id\` header and in the log line of the request.

\`\`\`json
{
  "success": false,
  "message": "The request is not valid. attachments.0.filename: Required",
  "error": {
    "code": "VALIDATION_ERROR",
    "message": "The request is not valid.",
    "statusCode": 422,
    "requestId": "5b306af7-c4a7-4a75-bff7-d5345981a40f",
    "errors": [{ "field": "attachments.0.filename", "message": "Required", "code": "invalid_type" }],
    "suggestion": "Correct the fields listed in errors."
  },
  "timestamp": "2026-01-01T12:00:00.000Z"
}
\`\`\`

\`errors\` lists each error with its dotted path, a message and a code. The usual codes are \`invalid_type\`,
\`invalid_string\` (an address, URL or pattern), \`too_small\`, \`too_big\`, \`invalid_enum_value\`, \`unrecognized_keys\`,
\`duplicate_field\`, \`custom\`, \`reserved_event\` and \`system_sourced_event\`.
\`details\` contains data for programs, such as \`requiredScope\`, or \`originalResponse\` of a reused Idempotency-Key.
VALIDATION_ERROR is 400 for query parameters and cursors, and for the bodies of \`/v1/verify\`, \`/v1/sms/send\`
and \`/v1/back-in-stock\`. Operations that send or start something refuse an unknown field with 422 and the code
\`unrecognized_keys\`. Other writes ignore it, and list it in the response's \`X-Ignored-Fields\` header. Unknown
query parameters are 400.

## Codes

${items.join('\n')}
`;
}
