import { closest, distance } from 'fastest-levenshtein';
import { findConsentField } from '../../rules/contacts/consent-names.ts';

/**
 * Maps names that other services use for a field to the possible names in this API. The other services are Resend,
 * Postmark, SendGrid, Mailchimp, Mailgun, Plunk, Loops, Customer.io, Twilio and others. The keys are normalized
 * (`normalizeName`). The suggestion is the first field of the list that the schema has in the same object. This is a
 * Map, because a plain object would also find inherited names such as `constructor`.
 */
const FOREIGN_NAMES: ReadonlyMap<string, string[]> = new Map(
  Object.entries({
    scheduledat: ['scheduledFor'],
    scheduleat: ['scheduledFor'],
    schedule: ['scheduledFor'],
    scheduletime: ['scheduledFor'],
    scheduled: ['scheduledFor'],
    sendat: ['scheduledFor'],
    sendtime: ['scheduledFor'],
    deliverat: ['scheduledFor'],
    deliverytime: ['scheduledFor'],
    html: ['body'],
    htmlbody: ['body'],
    htmlcontent: ['body'],
    bodyhtml: ['body'],
    content: ['body', 'content'],
    message: ['body'],
    text: ['body'],
    textbody: ['body'],
    textcontent: ['body'],
    msg: ['body'],
    recipient: ['to', 'email'],
    recipients: ['to'],
    identifiers: ['to', 'email'],
    toemail: ['to'],
    email: ['to', 'contactId', 'search'],
    emailaddress: ['email', 'to'],
    phone: ['to', 'phone'],
    phonenumber: ['to', 'phone'],
    number: ['to'],
    sender: ['from'],
    fromemail: ['from'],
    fromaddress: ['from'],
    sendername: ['fromName', 'name'],
    fromname: ['name'],
    replyto: ['replyTo', 'reply'],
    replytoemail: ['replyTo', 'reply'],
    templateid: ['template', 'templateId'],
    templatealias: ['template'],
    templatename: ['template'],
    transactionalid: ['template'],
    transactionalmessageid: ['template'],
    template: ['templateId'],
    templatemodel: ['data'],
    templatedata: ['data'],
    dynamictemplatedata: ['data'],
    templatecontent: ['data'],
    personalizations: ['data', 'to'],
    substitutions: ['data'],
    variables: ['data', 'context'],
    datavariables: ['data'],
    messagedata: ['data'],
    templatevars: ['data'],
    templatevariables: ['data'],
    substitutiondata: ['data'],
    recipientvariables: ['data'],
    eventproperties: ['data'],
    contactproperties: ['data'],
    traits: ['data'],
    mergevars: ['data'],
    globalmergevars: ['data'],
    mergefields: ['data'],
    params: ['data'],
    properties: ['data'],
    attributes: ['data'],
    customfields: ['data'],
    metadata: ['data', 'headers'],
    customargs: ['data', 'headers'],
    payload: ['data', 'context'],
    input: ['context'],
    data: ['context'],
    files: ['attachments'],
    attachment: ['attachments'],
    name: ['filename'],
    filename: ['filename'],
    type: ['contentType', 'audienceType'],
    mimetype: ['contentType'],
    cid: ['contentId'],
    contentdisposition: ['disposition'],
    listid: ['segmentId'],
    list: ['segmentId'],
    listids: ['segmentId'],
    audienceid: ['segmentId'],
    audience: ['audienceType'],
    segment: ['segmentId'],
    previewtext: ['preheader', 'previewText'],
    preview: ['preheader', 'previewText'],
    title: ['name'],
    eventname: ['event', 'name'],
    event: ['name', 'eventName'],
    mailinglists: ['topics'],
    validateonly: ['dryRun'],
    test: ['mode'],
    environment: ['mode'],
    permission: ['scopes'],
    permissions: ['scopes'],
    expires: ['expiresAt'],
    expiresin: ['expiresAt'],
    ttl: ['expiresAt'],
    status: ['subscribed'],
    subjectline: ['subject'],
    topic: ['topicId'],
    userid: ['contactId'],
    contact: ['contactId', 'contactIds'],
    contacts: ['contactIds'],
    variantname: ['variant'],
    // Query parameters.
    pagesize: ['limit'],
    perpage: ['limit'],
    count: ['limit'],
    first: ['limit'],
    after: ['cursor'],
    startingafter: ['cursor'],
    pagetoken: ['cursor'],
    page: ['cursor', 'page'],
    offset: ['cursor'],
    q: ['search'],
    query: ['search'],
    since: ['createdAfter', 'startDate'],
    until: ['createdBefore', 'endDate'],
    from: ['startDate', 'createdAfter'],
    to: ['endDate', 'createdBefore'],
    state: ['status'],
  }),
);

/** Old names of fields that are still accepted, but not suggested. */
const OLD_NAMES = new Set(['scheduledAt', 'ids', 'audienceCondition']);

/** Returns the accepted name that a caller probably meant by an unknown name. Undefined if no name is close enough. */
export function suggestName(name: string, acceptedNames: readonly string[]): string | undefined {
  const normalized = normalizeName(name);
  const equalName = acceptedNames.find((one) => normalizeName(one) === normalized && !OLD_NAMES.has(one));
  if (equalName !== undefined) return equalName;
  const translation = FOREIGN_NAMES.get(normalized)?.find((one) => acceptedNames.includes(one));
  if (translation !== undefined || acceptedNames.length === 0) return translation;
  const consent = findConsentField(name);
  if (consent !== undefined && acceptedNames.includes(consent)) return consent;
  // Long names are not compared. They are not typos of an accepted name, and the time for a comparison grows with the
  // product of both lengths.
  if (normalized.length > 40) return undefined;
  // Two letters in the wrong order, as in `filed`, count as two changes. For a short name, the check of the distance
  // below would not allow two changes.
  const reordering = acceptedNames.find((one) => sortLetters(normalizeName(one)) === sortLetters(normalized));
  if (reordering !== undefined) return reordering;
  const nearest = closest(normalized, acceptedNames.map(normalizeName));
  const isClose = distance(normalized, nearest) <= Math.min(3, Math.floor(nearest.length / 3));
  return isClose ? acceptedNames.find((one) => normalizeName(one) === nearest) : undefined;
}

function sortLetters(name: string): string {
  return [...name].sort().join('');
}

/** Normalizes a name: `scheduled_for`, `Scheduled-For` and `scheduledFor` are equal. */
function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-\s[\]]/g, '');
}
