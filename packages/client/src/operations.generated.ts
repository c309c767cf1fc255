// Generated from the OpenAPI document by packages/client/generate.ts. Change the document, then run `npm run client:types`.

export type AcceptInvitation = {
  /** The part of the link after `#` */
  token: string;
  password: string;
};

export type AcceptedSms = {
  id: string;
  to: string;
  from: string;
  country: string;
  encoding: AcceptedSmsEncoding;
  /** Number of billed segments */
  segments: number;
  status: AcceptedSmsStatus;
};

export type AcceptedSmsEncoding = "GSM7" | "UCS2";

export type AcceptedSmsStatus = "PENDING" | "QUEUED" | "SENT" | "DELIVERED" | "UNDELIVERED" | "FAILED";

export type Activity = {
  id: string;
  timestamp: string;
  contactId: string | null;
  contactEmail: string | null;
  metadata: Record<string, unknown>;
  type: ActivityType;
};

export type ActivityList = {
  data: Activity[];
  activities: Activity[];
  cursor: string | null;
  hasMore: boolean;
  /** Number of items, counted up to 10000, on the first page; 0 on later pages. */
  total: number;
};

export type ActivityStats = {
  totalEvents: number;
  totalEmailsSent: number;
  totalEmailsOpened: number;
  totalEmailsClicked: number;
  totalWorkflowsStarted: number;
  openRate: number;
  clickRate: number;
};

export type ActivityType = "event.triggered" | "email.sent" | "email.delivered" | "email.received" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "sms.sent" | "sms.delivered" | "sms.failed" | "sms.received" | "campaign.scheduled" | "campaign.sent" | "workflow.started" | "workflow.completed" | "contact.subscribed" | "contact.unsubscribed" | "contact.unsubscribe_requested" | "apikey.rotated";

export type ActivityTypes = {
  types: string[];
};

export type AddSegmentMembers = {
  emails: string[];
  createMissing?: boolean;
  /** Whether contacts that `createMissing` creates are subscribed. The subscription of existing contacts does not change. */
  subscribed?: boolean;
};

export type AddSmsStop = {
  /** E.164 */
  phone: string;
  /** A sender of the project. If omitted, all senders. */
  from?: string;
};

export type AddSuppression = {
  email: string;
  reason?: SuppressionReason;
};

export type AddedSegmentMembers = {
  added: number;
  created: number;
  notFound: string[];
};

export type AdvanceExecution = {
  /** Branch to take after a WAIT_FOR_EVENT: `event` or `timeout`. Defaults to `timeout`. */
  branch?: string | null;
};

export type ApiKey = {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  mode: ApiKeyMode;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
  createdAt: string;
  updatedAt: string;
};

export type ApiKeyMode = "live" | "test";

export type AppliedProject = {
  dryRun: boolean;
  created: AppliedResource[];
  updated: ChangedResource[];
  unchanged: AppliedResource[];
  findings: ApplyFinding[];
};

export type AppliedResource = {
  kind: AppliedResourceKind;
  /** Null for the settings */
  slug: string | null;
  name: string | null;
};

export type AppliedResourceKind = "settings" | "template" | "segment" | "topic" | "workflow" | "campaign";

export type ApplyFinding = {
  code: ApplyFindingCode;
  severity: FindingSeverity;
  message: string;
  details: Record<string, unknown>;
};

export type ApplyFindingCode = "sender_not_verified" | "secret_missing" | "workflow_not_enabled" | "campaign_begun" | "operator_limit" | "unknown_setting" | "unknown_segment" | "unknown_topic";

export type ApplyProject = {
  /** Returns the changes without making them */
  dryRun?: boolean;
  version?: 1;
  /** Same as in `PATCH /project`, without `name`. Changes need `project:manage`, which API keys cannot have. */
  settings?: Record<string, unknown>;
  topics?: TopicFile[];
  templates?: TemplateFile[];
  segments?: SegmentFile[];
  workflows?: WorkflowFile[];
  campaigns?: CampaignFile[];
};

export type Asset = {
  id: string;
  /** URL of the image. It always returns the same bytes. */
  url: string;
  hash: string;
  filename: string | null;
  contentType: AssetContentType;
  bytes: number;
  /** In pixels */
  width: number;
  height: number;
  /** Whether the image is used anywhere */
  used: boolean;
  /** Number of templates and campaigns that use the image, and whether an accepted email uses it */
  usedBy: {
    templates: number;
    campaigns: number;
    sent: boolean;
  };
  createdAt: string;
};

export type AssetContentType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** `bytes` is the total size of the project's images; `maxBytes` is the limit. */
export type AssetList = {
  data: Asset[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
  bytes: number;
  maxBytes: number;
};

export type AttentionItem = {
  kind: AttentionItemKind;
  /** Id of the domain, campaign, workflow or endpoint. Null for other problems. */
  id: string | null;
  name: string | null;
  since: string;
  /** Number of executions or outbox rows, counted up to 10000; otherwise 1 */
  count: number;
  /** Reason for the hold, the pause or the disabled endpoint, or the last error */
  detail: string | null;
};

export type AttentionItemKind = "periodic_work_late" | "project_held" | "route_paused" | "domain_broken" | "campaign_paused" | "outbox_late" | "executions_failed" | "endpoint_disabled" | "endpoint_degraded";

export type AuditEntry = {
  id: string;
  action: string;
  actor: string;
  target: string | null;
  ip: string | null;
  createdAt: string;
  details: Record<string, unknown>;
};

export type BackInStock = {
  email: string;
  /** Id of the variant: its number, or its global id `gid://shopify/ProductVariant/<number>` */
  storefrontVariantId: string;
};

export type BackInStockAccepted = {
  subscribed: boolean;
};

export type BatchError = {
  code: string;
  message: string;
  statusCode: number;
  errors?: {
    field: string;
    message: string;
    code: string;
  }[];
  details?: Record<string, unknown>;
  suggestion: string;
};

/** One entry per email, in the order of `emails`, as `POST /v1/send` would return it. */
export type BatchSent = {
  success: boolean;
  data: {
    results: ({
      success: boolean;
      data: {
        emails: {
          contact: {
            id: string;
            email: string;
          };
          email: string;
          /** Set for a copy */
          role?: SentEmailsRole;
        }[];
        /** Copies that are not sent, with the reason */
        skipped?: {
          email: string;
          reason: SentSkippedReason;
        }[];
        timestamp: string;
      };
    } | {
      success: boolean;
      error: BatchError;
    })[];
    accepted: number;
    refused: number;
    timestamp: string;
  };
};

export type BulkContacts = {
  contactIds?: string[];
  /** Alias of `contactIds` */
  ids?: string[];
  /** Selects the contacts that exist at the time of the request. Just before the job changes a contact, it checks whether the contact still matches. */
  where?: {
    /** Part of the address or of the name */
    search?: string;
    condition?: Condition;
    /** Selects every contact, instead of `search` and `condition` */
    all?: boolean;
  };
};

export type BulkJob = {
  id: string;
  kind: BulkJobKind;
  status: BulkJobStatus;
  state: BulkJobState;
  progress: number;
  total: number;
  processed: number;
  failedReason: string | null;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
  result: {
    operation: BulkJobResultOperation;
    totalRequested: number;
    successCount: number;
    failureCount: number;
    errors: {
      contactId: string;
      error: string;
    }[];
  };
};

export type BulkJobKind = "import" | "bulk-subscribe" | "bulk-unsubscribe" | "bulk-delete";

export type BulkJobResultOperation = "subscribe" | "unsubscribe" | "delete";

export type BulkJobState = "waiting" | "active" | "completed" | "failed";

export type BulkJobStatus = "QUEUED" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED";

export type Campaign = {
  id: string;
  name: string;
  /** Identifies the record in files and across projects. Does not change with the name. */
  slug: string;
  description: string | null;
  subject: string;
  body: string;
  preheader: string | null;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  type: CampaignType;
  audienceType: CampaignType;
  segmentId: string | null;
  topicId: string | null;
  filters: Record<string, unknown> | null;
  audienceFilter: Record<string, unknown> | null;
  audienceCondition: Record<string, unknown> | null;
  sendAtLocal: string | null;
  latePolicy: LatePolicy;
  /** Sending window of this campaign, or null if no window applies. Absent if the project's window applies. */
  sendingWindow?: {
    from: string;
    to: string;
    days?: number[];
    timezone?: "contact" | string;
  } | null;
  /** When the next recipients get the email, if recipients wait for a local time or a sending window */
  nextOpening: string | null;
  status: CampaignStatus;
  scheduledAt: string | null;
  scheduledFor: string | null;
  startedAt: string | null;
  sentAt: string | null;
  cancelledAt: string | null;
  /** Why the campaign is PAUSED. `requested`: a user paused it. `template_timeout`: rendering the content took too long for 20 recipients in a row. `database_restored`: the database was restored from a backup, so some recipients may already have got the email. */
  pausedReason: CampaignPausedReason | null;
  /** Variants of the content. Fields that a variant does not set have the value of the campaign. */
  variants: CampaignVariant[] | null;
  test: CampaignTest;
  /** Null if the campaign has no test. `WAITING`: the emails of the share were sent, and the winner is chosen at `testEndsAt`. `ENDED`: the campaign has ended without a winner, because no recipient waited for one or the campaign was cancelled. */
  testState: CampaignTestState | null;
  /** When the winner is chosen. Null until all emails of the share were sent, failed or were deferred. */
  testEndsAt: string | null;
  /** Name of the variant that the remaining recipients get */
  winner: string | null;
  /** Whether the test or a user chose the winner */
  winnerBy: CampaignWinnerBy | null;
  winnerAt: string | null;
  totalRecipients: number;
  pendingCount: number;
  sentCount: number;
  deliveredCount: number;
  openedCount: number;
  clickedCount: number;
  bouncedCount: number;
  complainedCount: number;
  unsubscribedCount: number;
  failedCount: number;
  skippedCount: number;
  createdAt: string;
  updatedAt: string;
};

export type CampaignDone = {
  success: boolean;
  data: Campaign;
  message?: string;
};

export type CampaignFile = {
  name?: string;
  /** Identifies the resource. It is created if it does not exist. */
  slug: SlugInput;
  description?: string | null;
  subject?: string;
  /** HTML with Liquid, at most 512 KB */
  body?: string;
  preheader?: Preheader;
  /** Address of the sender. Must be on a verified domain. A display name in `from` sets `fromName`, unless the request has `fromName`. */
  from?: string | {
    name?: string;
    email: string;
  };
  fromName?: string | null;
  replyTo?: string | null;
  audienceType?: CampaignType;
  /** Audience of a FILTERED campaign, with `segment.<slug>` instead of `segment.<id>` */
  audienceFilter?: unknown;
  sendAtLocal?: SendAtLocal;
  latePolicy?: LatePolicy;
  /** Sending window of this campaign. With null, no window applies. With `project`, the default, the project's window at the time of sending applies. */
  sendingWindow?: SendingWindow | string | null;
  /** 2 to 5 variants with distinct names. Null or an empty list removes all variants. */
  variants?: CampaignVariantInput[] | null;
  test?: CampaignTestInput;
  /** Slug of the segment of a SEGMENT campaign */
  segment?: string | null;
  /** Slug of the topic */
  topic?: string | null;
};

export type CampaignLink = {
  /** The URL as written in the template */
  url: string;
  /** Clicks by humans */
  clicks: number;
  /** Recipients who clicked the link */
  uniqueClicks: number;
  /** Clicks by scanners */
  machineClicks: number;
  /** Clicks for each variant that contains this link. Null if the campaign has no variants. */
  variants: CampaignLinkOfVariant[] | null;
};

export type CampaignLinkOfVariant = {
  name: string;
  /** Clicks by humans */
  clicks: number;
  /** Recipients who clicked the link */
  uniqueClicks: number;
  /** Clicks by scanners */
  machineClicks: number;
};

export type CampaignList = {
  campaigns: ListedCampaign[];
  page: number;
  pageSize: number;
  total: number;
  totalPages: number;
  cursor: string | null;
  hasMore: boolean;
};

export type CampaignPausedReason = "requested" | "template_timeout" | "database_restored";

export type CampaignRecipient = {
  contactId: string | null;
  /** Null after the contact is erased */
  email: string | null;
  status: EmailItemStatus;
  /** Why the email was not sent or not delivered. Skipped recipients are FAILED with a reason. */
  reason: string | null;
  /** Reply of the provider */
  error: string | null;
  attempts: number;
  /** Name of the recipient's variant, if the campaign has variants */
  variant: string | null;
  /** Id for `GET /v1/emails/{id}` */
  emailId: string;
  /** Earliest time at which the email is sent */
  notBefore: string | null;
  sentAt: string | null;
  deliveredAt: string | null;
  openedAt: string | null;
  clickedAt: string | null;
  bouncedAt: string | null;
  unsubscribedAt: string | null;
};

export type CampaignRequeued = {
  requeued: number;
};

export type CampaignReview = {
  /** Number of contacts in the audience, including contacts that are not subscribed */
  audience: number;
  /** Number of contacts that would get the campaign now */
  willSend: number;
  /** Number of skipped contacts by reason */
  skipped: Record<string, number>;
  /** Time from the start until the last email is sent. The estimate considers the send rate, sending windows, local times of recipients and the wait of a test. */
  estimatedSeconds: number;
  findings: Finding[];
};

/** `pending + sent + failed + skipped = total` at every moment. */
export type CampaignStats = {
  total: number;
  pending: number;
  sent: number;
  delivered: number;
  /** `reported`: the provider reports each delivery. `sent_minus_bounced`: the provider does not, so the count is the sent emails minus the bounced emails. */
  deliveredBasis: MailOverviewDeliveredBasis;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
  failed: number;
  skipped: number;
  /** Percentage of sent emails */
  openRate: number;
  /** Percentage of sent emails */
  clickRate: number;
  /** Percentage of attempted emails (`sent + failed`) */
  bounceRate: number;
  /** Percentage of sent emails */
  deliveryRate: number;
  /** Number of recipients by the reason why their email was not sent or not delivered */
  byReason: Record<string, number>;
  /** Opens by prefetchers and scanners. They do not make an email OPENED. */
  machineOpens: number;
  /** Clicks by scanners. They do not make an email CLICKED. */
  machineClicks: number;
  /** Counts per hour (UTC) for the first 72 hours, starting with the hour in which the campaign started. Empty before the start. */
  series: {
    at: string;
    sent: number;
    delivered: number;
    opened: number;
    clicked: number;
  }[];
  /** Automated opens and clicks in the same hours */
  machineSeries: {
    at: string;
    opens: number;
    clicks: number;
  }[];
  /** Null if the campaign has no variants. Recipients that wait for the winner are not counted for any variant. */
  variants: CampaignVariantStats[] | null;
  comparison: VariantComparison;
};

export type CampaignStatus = "DRAFT" | "SCHEDULED" | "SENDING" | "PAUSED" | "SENT" | "CANCELLED";

export type CampaignTest = {
  share: number;
  metric: CampaignTestMetric;
  waitMinutes: number;
  minimum: number;
} | null;

/** Sends the variants to a share of the recipients, waits, and sends the better variant to the other recipients. Without a test, all recipients get a variant by weight. */
export type CampaignTestInput = {
  /** Share of the recipients that take part in the test, rounded up to whole recipients. These recipients get the variants by weight. With 1, all recipients get a variant, and no recipient waits for the winner. */
  share: number;
  /** Rate that decides the winner. Only opens and clicks by humans count. */
  metric?: CampaignTestMetric;
  /** Minutes from the last email of the share until the winner is chosen */
  waitMinutes?: number;
  /** Minimum number of opens or clicks (see `metric`) that the best variant needs to win. If it has fewer, the first variant of the campaign wins. */
  minimum?: number;
} | null;

export type CampaignTestMetric = "opens" | "clicks";

export type CampaignTestSent = {
  success: boolean;
  data: {
    emailId: string;
    email: string;
  };
  message: string;
};

export type CampaignTestState = "PENDING" | "SENDING" | "WAITING" | "DECIDED" | "ENDED";

export type CampaignTotals = {
  total: number;
  active: number;
  completed: number;
  averageOpenRate: number;
  averageClickRate: number;
};

export type CampaignType = "ALL" | "SEGMENT" | "FILTERED";

export type CampaignVariant = {
  name: string;
  weight: number;
  subject?: string;
  body?: string;
  preheader?: string;
  from?: string;
  fromName?: string;
  replyTo?: string;
};

/** A variant of the content. Fields that it does not set have the value of the campaign. */
export type CampaignVariantInput = {
  name: string;
  weight?: number;
  subject?: string | null;
  /** HTML with Liquid, at most 512 KB */
  body?: string | null;
  preheader?: Preheader;
  /** Address of the sender. Must be on a verified domain. A display name in `from` sets `fromName`, unless the request has `fromName`. */
  from?: string | {
    name?: string;
    email: string;
  } | null;
  fromName?: string | null;
  replyTo?: string | null;
};

export type CampaignVariantStats = {
  name: string;
  weight: number;
  winner: boolean;
  total: number;
  pending: number;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
  failed: number;
  skipped: number;
  /** Percentage of sent emails */
  openRate: number;
  /** Percentage of sent emails */
  clickRate: number;
  openInterval: RateInterval;
  clickInterval: RateInterval;
  /** Interval of the rate that decides the test. Without a test, interval of the open rate. */
  interval: RateInterval;
};

export type CampaignWinnerBy = "test" | "hand";

export type CancelledExecutions = {
  cancelled: number;
  count: number;
};

export type ChangePassword = {
  currentPassword: string;
  newPassword: string;
};

export type ChangeTeamRole = {
  /** Only an OWNER can give the role OWNER */
  role: MeRole;
};

export type ChangedResource = AppliedResource & {
  /** Changed fields; steps as `steps.<slug>` */
  changes: string[];
};

export type Checklist = {
  items: {
    key: ChecklistItemsKey;
    done: boolean;
  }[];
  /** Whether all items are done */
  done: boolean;
};

export type ChecklistItemsKey = "domain" | "contact" | "template" | "mail" | "event" | "automation";

export type ChooseWinner = {
  /** Name of the variant */
  variant: string;
};

export type ComputedSegment = {
  added: number;
  removed: number;
  total: number;
};

/** Groups joined by logic; the filters of a group are ANDed. At most 10 deep and 500 filters. */
export type Condition = {
  logic: ConditionLogic;
  groups: FilterGroup[];
};

/** A condition, in the full or the simple form. Negative operators match contacts that lack the field. */
export type ConditionInput = Condition | {
  operator: ConditionLogic;
  conditions: Filter[];
} | null;

export type ConditionLogic = "AND" | "OR";

export type Contact = {
  id: string;
  email: string;
  subscribed: boolean;
  subscription: SubscriptionState;
  /** Consent to SMS, independent of `subscribed` */
  smsSubscribed: boolean;
  data: Record<string, unknown>;
  /** Whether the contact is subscribed to each of the project's topics, by topic id. If the contact has not chosen, this is the default of the topic. */
  topics: Record<string, boolean>;
  createdAt: string;
  updatedAt: string;
};

export type ContactAtStep = {
  executionId: string;
  contactId: string;
  email: string | null;
  status: ContactAtStepStatus;
  /** Number of attempts to carry out the effect of the step. */
  attempts: number;
  startedAt: string;
  /** When a DELAY ends, or a WAIT_FOR_EVENT times out. */
  dueAt: string | null;
  error: string | null;
};

export type ContactAtStepStatus = "RUNNING" | "WAITING";

export type ContactExecution = {
  id: string;
  workflowId: string;
  workflowName: string;
  status: ExecutionStatus;
  /** True for an execution that tests a workflow. Statistics do not count it. */
  sandbox: boolean;
  currentStepId: string | null;
  stepName: string | null;
  stepType: StepType | null;
  /** When the current step continues */
  dueAt: string | null;
  exitReason: string | null;
  error: string | null;
  startedAt: string;
  completedAt: string | null;
};

export type ContactExport = {
  exportedAt: string;
  contact: Contact;
  suppressions: Record<string, unknown>[];
  /** Same as in `GET /v1/emails`, without bodies */
  emails: Record<string, unknown>[];
  sms: Record<string, unknown>[];
  events: Record<string, unknown>[];
  /** Executions with their steps */
  executions: Record<string, unknown>[];
  segments: Record<string, unknown>[];
  /** Proofs of double opt-in: `at`, `ip`, the `text` that the contact agreed to, and `emailId` of the confirmation email */
  optIns: Record<string, unknown>[];
};

export type ContactFieldUsage = {
  usedInSegments: NamedUse[];
  usedInCampaigns: NamedUse[];
  usedInWorkflows: NamedUse[];
  contactCount: number;
  canDelete: boolean;
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type ContactFieldValues = {
  field: string;
  values: unknown[];
  count: number;
  limit: number;
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type ContactFields = {
  fields: {
    field: string;
    type: ContactFieldsFieldsType;
    coverage: number;
    standard: boolean;
  }[];
  count: number;
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type ContactFieldsFieldsType = "string" | "number" | "boolean" | "date" | "array" | "object";

export type ContactLookup = {
  emails: string[];
};

export type ContactLookupResult = {
  found: {
    id: string;
    email: string;
    subscribed: boolean;
  }[];
  notFound: string[];
};

export type ContactSegments = {
  data: ({
    id: string;
    name: string;
    slug: string;
    type: SegmentType;
    /** When the contact became a stored member of a STATIC or tracked segment. Null for other segments. */
    memberSince: string | null;
  })[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type ContactSubscription = {
  subscribed: boolean;
  subscription: SubscriptionState;
  smsSubscribed: boolean;
  /** The latest 20 changes, newest first. Empty if the subscription has not changed since the contact was created. */
  changes: ({
    at: string;
    subscribed: boolean;
    /** The author of the change: `user:<id>`, `key:<id>`, `job:<id>`, `execution:<id>`, `public` for the public key, `contact` for the person, or the source of a bounce or complaint report. Null if unknown. */
    actor: string | null;
    /** Email address of the user, or name of the key or workflow. Null if the actor has no name. */
    actorName: string | null;
    reason: string | null;
  })[];
  suppressions: (Suppression & ({
    /** Email address of the user, or name of the key or workflow. Null if the actor has no name. */
    actorName: string | null;
  }))[];
};

export type ContactsFile = {
  /** A CSV file in UTF-8 or UTF-16, at most 5 MB */
  file: string;
  /** A JSON object that maps column headers to fields: `email`, `subscribed` or `data.<name>`. Use null to skip a column. Use `{ "field": …, "type": "string" }` to keep the values as text. Columns that are not in the mapping use their header as the field name. */
  mapping?: string;
  /** Same as in the query */
  triggerWorkflows?: boolean;
};

export type CreateApiKey = {
  name: string;
  scopes: CreateApiKeyScopes[];
  expiresAt?: string | null;
  mode?: ApiKeyMode;
};

export type CreateApiKeyScopes = "email:send" | "emails:view" | "sms:send" | "sms:view" | "contacts:view" | "contacts:edit" | "templates:view" | "templates:edit" | "campaigns:view" | "campaigns:edit" | "campaigns:send" | "segments:view" | "segments:edit" | "workflows:view" | "workflows:edit" | "events:view" | "events:edit" | "domains:view" | "domains:edit" | "analytics:view";

export type CreateCampaign = {
  name: string;
  slug?: SlugInput;
  description?: string | null;
  subject: string;
  /** HTML with Liquid, at most 512 KB */
  body: string;
  preheader?: Preheader;
  /** Address of the sender. Must be on a verified domain. A display name in `from` sets `fromName`, unless the request has `fromName`. */
  from: string | {
    name?: string;
    email: string;
  };
  fromName?: string | null;
  replyTo?: string | null;
  audienceType?: CampaignType;
  /** Alias of `audienceType` */
  type?: CampaignType;
  segmentId?: string | null;
  /** Audience of a FILTERED campaign. `audienceFilter`, `audienceCondition` and `filters` are aliases. */
  audienceFilter?: Record<string, unknown> | null;
  /** Alias of `audienceFilter` */
  audienceCondition?: Record<string, unknown> | null;
  /** Alias of `audienceFilter` */
  filters?: Record<string, unknown> | null;
  /** Topic of the campaign. Contacts that left the topic do not get the campaign. */
  topicId?: string | null;
  sendAtLocal?: SendAtLocal;
  latePolicy?: LatePolicy;
  /** Sending window of this campaign. With null, no window applies. With `project`, the default, the project's window at the time of sending applies. */
  sendingWindow?: SendingWindow | string | null;
  /** 2 to 5 variants with distinct names. Null or an empty list removes all variants. */
  variants?: CampaignVariantInput[] | null;
  test?: CampaignTestInput;
};

export type CreateDomain = {
  domain: string;
};

export type CreateSegment = {
  name: string;
  slug?: SlugInput;
  description?: string | null;
  type?: SegmentType;
  filters?: ConditionInput;
  /** Alias of `filters` */
  condition?: ConditionInput;
  trackMembership?: boolean;
};

export type CreateSmsSender = {
  /** Country of the recipients that get SMS from this sender. If null or omitted, this is the default sender. */
  country?: string | null;
  from: string;
};

export type CreateTemplate = {
  name: string;
  slug?: SlugInput;
  description?: string | null;
  subject: string;
  /** HTML with Liquid, at most 512 KB */
  body: string;
  preheader?: Preheader;
  /** Address of the sender. Must be on a verified domain. A display name in `from` sets `fromName`, unless the request has `fromName`. */
  from?: string | {
    name?: string;
    email: string;
  } | null;
  fromName?: string | null;
  replyTo?: string | null;
  type: TemplateType;
  /** Topic of the emails; only for MARKETING */
  topicId?: string | null;
};

export type CreateTopic = {
  name: string;
  /** Identifies the topic. Derived from the name if omitted. Unique in the project. A new name does not change it. */
  slug?: string;
  /** Shown to contacts on the preference page */
  description?: string | null;
  /** Whether contacts without a choice are subscribed to the topic. Defaults to true. */
  defaultSubscribed?: boolean;
};

export type CreateWebhookEndpoint = {
  url: string;
  /** Event names, prefixes such as `email.*`, or `*` */
  events: string[];
  description?: string | null;
  enabled?: boolean;
};

export type CreateWorkflow = {
  name: string;
  slug?: SlugInput;
  description?: string | null;
  triggerType?: WorkflowTriggerType;
  eventName?: string | null;
  triggerConfig?: {
    eventName?: string | null;
    /** Whether automatic emails (out-of-office replies, list and bulk email) start executions on `email.received`. Defaults to false. */
    includeAutomatic?: boolean;
  } | null;
  /** Whether automatic emails (out-of-office replies, list and bulk email) start executions on `email.received`. Defaults to false. */
  includeAutomatic?: boolean;
  allowReentry?: boolean;
  /** Path of a value in the event or the context, such as `event.cartId`. A contact can then have one active execution for each value. If `reentryKey` is null, a contact can have only one active execution. */
  reentryKey?: string | null;
  exitOn?: ExitOn;
  exitWhenUnsubscribed?: boolean;
};

/** The fields of `config` depend on the type of the step. The guide to automations lists them. */
export type CreateWorkflowStep = {
  type: StepType;
  name?: string;
  config?: Record<string, unknown>;
  templateId?: string | null;
  position?: {
    x: number;
    y: number;
  } | null;
  autoConnect?: boolean;
};

export type CreateWorkflowTransition = {
  fromStepId: string;
  toStepId: string;
  branch?: string | null;
};

/** `key` is returned only once; the service stores only its hash. */
export type CreatedApiKey = ApiKey & {
  key: string;
};

export type DayCounts = {
  date: string;
  emails: number;
  delivered: number;
  opens: number;
  clicks: number;
  bounces: number;
  complaints: number;
};

export type DeletedContactField = {
  deletedFrom: number;
};

export type DeletedEvents = {
  deletedCount: number;
};

export type Domain = {
  id: string;
  domain: string;
  verified: boolean;
  status: DomainStatus;
  /** Whether the service signs email from this domain (DKIM) */
  signing: boolean;
  records: ({
    purpose: DomainRecordsPurpose;
    type: DomainRecordsType;
    name: string;
    value: string;
    required: boolean;
    found: boolean;
    /** Values that the DNS returned at the last check. Null if the DNS has never responded. */
    seen: string[] | null;
    /** Warning to read before you publish the record, for example that the name already has an MX of another server */
    warning: string | null;
  })[];
  /** Why you need to publish no records, or only some of them */
  note: string | null;
  lastCheckedAt: string | null;
  createdAt: string;
  updatedAt: string;
};

export type DomainRecordsPurpose = "DKIM" | "SPF" | "DMARC" | "RETURN_PATH" | "INBOUND";

export type DomainRecordsType = "TXT" | "MX";

export type DomainStatus = "PENDING" | "VERIFIED" | "FAILED";

export type Email = EmailItem & ({
  /** Rendered HTML */
  body: string;
  text: string;
  /** Header names are in lower case */
  headers: Record<string, string>;
  replyTo: string | null;
  /** Role of the recipient in an email with copies. Null for an email without copies. */
  role: EmailRole | null;
  /** The workflow of `workflowExecutionId` */
  workflowId: string | null;
  /** Number of attempts to send the email */
  attempts: number;
  bounceType: EmailBounceType | null;
  machineOpens: number;
  machineClicks: number;
  /** Id of the email that this email resends */
  resentFrom: string | null;
  attachments: ({
    /** Id for `GET /v1/emails/{id}/attachments/{attachmentId}`. Null for a file inside a message from the SMTP relay. */
    id: string | null;
    name: string;
    type: string;
    size: number;
  })[];
  events: {
    id: string;
    name: string;
    data: Record<string, unknown>;
    createdAt: string;
  }[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
});

export type EmailBounceType = "Permanent" | "Transient";

export type EmailItem = {
  id: string;
  contactId: string | null;
  /** Null after the contact is erased */
  to: string | null;
  from: string;
  fromName: string | null;
  subject: string;
  status: EmailItemStatus;
  mode: ApiKeyMode;
  sourceType: EmailItemSourceType;
  templateId: string | null;
  campaignId: string | null;
  workflowExecutionId: string | null;
  messageId: string | null;
  opens: number;
  clicks: number;
  /** Why the email was not sent or not delivered: unsubscribed, unsubscribed:topic, unconfirmed, frequency_capped, cancelled, left_audience, sender_not_verified, template_error, provider_rejected, expired, step_deleted, contact_deleted, limit_reached, no_phone, sms_stopped, not_mobile, invalid_number, exited_on_event, too_late, suppressed:hard_bounce, suppressed:complaint, suppressed:unsubscribe, suppressed:manual, bounced:dead_mailbox, bounced:mailbox_for_now, bounced:policy, bounced:message, bounced:routing, bounced:unknown */
  reason: string | null;
  /** Reply of the provider */
  error: string | null;
  createdAt: string;
  sentAt: string | null;
  deliveredAt: string | null;
  openedAt: string | null;
  clickedAt: string | null;
  bouncedAt: string | null;
  complainedAt: string | null;
  /** When the email failed or was skipped. Null for other emails, and if the time was not recorded. */
  failedAt: string | null;
};

export type EmailItemSourceType = "TRANSACTIONAL" | "CAMPAIGN" | "WORKFLOW" | "INBOUND";

export type EmailItemStatus = "PENDING" | "SENDING" | "HELD" | "SENT" | "DELIVERED" | "RECEIVED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED";

export type EmailRole = "to" | "cc" | "bcc";

export type EmailVerification = {
  success: boolean;
  data: {
    email: string;
    /** Whether the domain exists, accepts email and is not disposable */
    valid: boolean;
    isDisposable: boolean;
    isAlias: boolean;
    isTypo: boolean;
    isPlusAddressed: boolean;
    isPersonalEmail: boolean;
    domainExists: boolean;
    hasWebsite: boolean;
    hasMxRecords: boolean;
    suggestedEmail?: string;
    reasons: string[];
  };
};

/** Every error of this service has this form. */
export type ErrorEnvelope = {
  success: boolean;
  /** The message of `error`, and the first of its `errors` */
  message?: string;
  error: {
    code: ErrorErrorCode;
    message: string;
    statusCode: number;
    requestId: string;
    errors?: {
      field: string;
      message: string;
      code: string;
    }[];
    details?: Record<string, unknown>;
    suggestion?: string;
  };
  timestamp: string;
};

export type ErrorErrorCode = "BAD_REQUEST" | "DOMAIN_NOT_VERIFIED" | "CONTACT_UNSUBSCRIBED" | "NO_SMS_SENDER" | "UNAUTHORIZED" | "INVALID_API_KEY" | "FORBIDDEN" | "PROJECT_DISABLED" | "SMS_NOT_ENABLED" | "NOT_FOUND" | "TEMPLATE_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "IDEMPOTENCY_KEY_REUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "VALIDATION_ERROR" | "RATE_LIMIT_EXCEEDED" | "BILLING_LIMIT_EXCEEDED" | "INTERNAL_SERVER_ERROR" | "SERVICE_UNAVAILABLE";

export type Event = {
  id: string;
  name: string;
  contactId: string | null;
  emailId: string | null;
  data: Record<string, unknown>;
  /** Workflow executions that the event started */
  executions: {
    id: string;
    workflowId: string;
  }[];
  /** Enabled workflows with this event name that the event did not start, with the reason, and the execution that prevented it if there is one */
  notStarted: ({
    workflowId: string;
    reason: EventNotStartedReason;
    executionId: string | null;
  })[];
  createdAt: string;
};

export type EventList = {
  events: Event[];
  data: Event[];
  cursor: string | null;
  hasMore: boolean;
};

export type EventNames = {
  eventNames: string[];
};

export type EventNotStartedReason = "active" | "entered_before" | "automatic" | "too_often" | "event_depth";

export type EventStats = {
  name: string;
  count: number;
  lastAt: string;
}[];

export type EventUsage = {
  usedInSegments: NamedUse[];
  usedInWorkflows: NamedUse[];
  totalCount: number;
  uniqueContacts: number;
  canDelete: boolean;
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type Execution = {
  id: string;
  workflowId: string;
  contactId: string;
  /** Null after the contact is erased */
  contactEmail: string | null;
  status: ExecutionStatus;
  currentStepId: string | null;
  exitReason: string | null;
  /** Why the execution is FAILED. `loop`: the execution returned to a step after less than 60 s of waiting, or reached its 1,001st step. `event_depth` can also be set on an execution that has not failed: one of its steps caused the tenth event in a chain of executions and events, and this event started nothing. */
  error: string | null;
  context: Record<string, unknown>;
  event: Record<string, unknown>;
  eventName: string | null;
  /** True for an execution that tests the workflow. Statistics do not count it. */
  sandbox: boolean;
  startedAt: string;
  completedAt: string | null;
  /** False while the execution waits in the outbox, because more executions were accepted than can be started at once. `steps` then shows at which step it will start. */
  begun: boolean;
  temporal: {
    workflowId: string;
    runId: string | null;
    /** URL of the workflow in Temporal's UI. Only set in the response for a single execution, if `TEMPORAL_UI_URL` is set. */
    url: string | null;
  };
};

export type ExecutionDetail = Execution & ({
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
  steps: ({
    stepId: string;
    type: StepType;
    status: ExecutionDetailStepsStatus;
    attempts: number;
    startedAt: string;
    completedAt: string | null;
    /** When a DELAY ends, or a WAIT_FOR_EVENT times out. */
    dueAt: string | null;
    output: Record<string, unknown> | null;
    error: string | null;
  })[];
});

export type ExecutionDetailStepsStatus = "RUNNING" | "WAITING" | "COMPLETED" | "SKIPPED" | "FAILED" | "CANCELLED";

export type ExecutionStatus = "RUNNING" | "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";

/** Events that end the executions of their contact at once, at any step. These executions are EXITED with the reason `exited_on_event`. A change also applies to running executions. */
export type ExitOn = {
  eventName: string;
  /** Filters on the event's data, like the filters of a WAIT_FOR_EVENT. */
  filters?: unknown;
  /** Whether automatic emails (out-of-office replies, list and bulk email) end executions on `email.received`. Defaults to false. */
  includeAutomatic?: boolean;
}[] | null;

export type ExportedProject = {
  version: 1;
  settings: Record<string, unknown>;
  templates: TemplateFile[];
  segments: SegmentFile[];
  topics: TopicFile[];
  workflows: WorkflowFile[];
  /** Drafts. Omitted for a key without `campaigns:view` */
  campaigns?: CampaignFile[];
};

export type Filter = {
  /** email, subscribed, createdAt, updatedAt, data.<path>, event.<name>, … */
  field: string;
  operator: FilterOperator;
  value?: string | number | boolean | (string | number | boolean)[];
  unit?: FilterUnit;
};

export type FilterGroup = {
  filters: Filter[];
  conditions?: Condition;
};

export type FilterOperator = "equals" | "notEquals" | "contains" | "notContains" | "startsWith" | "endsWith" | "greaterThan" | "lessThan" | "greaterThanOrEqual" | "lessThanOrEqual" | "in" | "notIn" | "exists" | "notExists" | "within" | "withinNext" | "olderThan" | "triggered" | "notTriggered" | "triggeredWithin" | "notTriggeredWithin" | "triggeredOlderThan" | "memberOf" | "notMemberOf";

export type FilterUnit = "minutes" | "hours" | "days" | "weeks";

export type Finding = {
  code: FindingCode;
  severity: FindingSeverity;
  /** One sentence for users */
  message: string;
  details: Record<string, unknown>;
};

export type FindingCode = "no_text" | "no_unsubscribe_link" | "missing_variables" | "bad_link" | "link_shortener" | "image_without_alt" | "html_too_large" | "subject_too_long" | "sender_not_verified" | "project_held" | "dmarc_missing" | "slow" | "empty_audience" | "variant_without_reader";

export type FindingSeverity = "error" | "warning" | "info";

export type Health = {
  status: "ok";
};

/** Whether marketing and automation email is on hold, since when, and why. */
export type Hold = {
  held: boolean;
  since: string | null;
  reason: string | null;
};

export type HoldProject = {
  reason?: string;
};

export type HoldTenant = {
  /** Shown to the project */
  reason: string;
};

/** `row` is the row number in a spreadsheet: the header usually is row 1, and blank rows count. The first 1,000 errors are kept. */
export type ImportJob = {
  id: string;
  kind: BulkJobKind;
  status: BulkJobStatus;
  state: BulkJobState;
  progress: number;
  total: number;
  processed: number;
  failedReason: string | null;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
  result: {
    totalRows: number;
    successCount: number;
    createdCount: number;
    updatedCount: number;
    failureCount: number;
    /** Skipped blank lines, and rows that contain only separators. They are not in `totalRows`. */
    blankRows?: number;
    /** Failed rows that are not valid CSV. At 1,000, the job is FAILED. */
    unreadableRows?: number;
    errors: {
      row: number;
      email: string;
      error: string;
    }[];
    /** Number of rows that were imported although a value, such as a phone number, is not valid */
    warningCount?: number;
    warnings?: {
      row: number;
      email: string;
      warning: string;
    }[];
    /** Explains how the import treats columns that it recognizes by their names, such as `Newsletter`, which sets the subscription */
    notes?: string[];
  };
};

/** The counts and errors that an import of this file would have now. */
export type ImportPreview = {
  delimiter: string;
  rows: number;
  /** The mapping to send with the import */
  mapping: Record<string, unknown>;
  /** Errors in the mapping. If there are any, the rows of the file are not counted. */
  problems: {
    field: string;
    message: string;
    code: string;
  }[];
  columns: ({
    header: string;
    /** `email`, `subscribed`, `data.<name>`, or null for a skipped column */
    field: string | null;
    type: ImportPreviewColumnsType;
    /** The first values of the column, as they are in the file */
    samples: string[];
    /** Number of values by detected type */
    types: {
      text?: number;
      number?: number;
      boolean?: number;
      date?: number;
    };
  })[];
  preview: ({
    row: number;
    email: string;
    /** Null if the file does not set the subscription */
    subscribed: boolean | null;
    data: Record<string, unknown>;
    /** Whether the contact exists and would be updated */
    known: boolean;
    error: string | null;
  })[];
  result: {
    totalRows: number;
    successCount: number;
    createdCount: number;
    updatedCount: number;
    failureCount: number;
    /** Skipped blank lines, and rows that contain only separators. They are not in `totalRows`. */
    blankRows?: number;
    unreadableRows: number;
    errors: {
      row: number;
      email: string;
      error: string;
      /** Cells of the row, or the whole line if it cannot be parsed. Empty if they have more than 2,000 characters. */
      values: string[];
    }[];
    /** Number of rows that were imported although a value, such as a phone number, is not valid */
    warningCount?: number;
    warnings?: {
      row: number;
      email: string;
      warning: string;
    }[];
    /** Explains how the import treats columns that it recognizes by their names, such as `Newsletter`, which sets the subscription */
    notes?: string[];
    /** Rows whose address is on the suppression list. They are imported without a subscription. */
    suppressedCount: number;
    /** Rows that subscribe contacts that are unsubscribed now and not on the suppression list, for example because the project unsubscribed them. */
    resubscribedCount: number;
    /** Rows that unsubscribe contacts that are subscribed now. */
    unsubscribedCount: number;
    /** Rows of existing contacts with an empty `subscribed` cell. Their subscription does not change. */
    silentKnownCount: number;
    /** Rows of new contacts with an empty `subscribed` cell. They start unsubscribed. */
    silentNewCount: number;
  } | null;
};

export type ImportPreviewColumnsType = "infer" | "string";

export type InviteToTeam = {
  email: string;
  /** Only an OWNER can give the role OWNER */
  role?: MeRole;
};

export type InvitedToTeam = TeamInvitation & {
  /** Link to give to the invited person. Returned only once. */
  url: string;
  /** Whether the invitation was also emailed, which requires a verified domain of the project */
  mailed: boolean;
};

export type JoinByInvitation = {
  /** The part of the link after `#` */
  token: string;
};

/** Decides about recipients whose local time was more than 15 minutes ago when the campaign starts or is resumed. With `SEND`, the default, they get the email at once. With `SKIP`, they are skipped with the reason `too_late`. */
export type LatePolicy = "SEND" | "SKIP";

/** Omitted fields do not change; null removes a limit. The guards are fractions of 1. */
export type LimitTenant = {
  sendRatePerSecond?: number | null;
  monthlyEmailLimit?: number | null;
  bounceGuard?: number | null;
  complaintGuard?: number | null;
};

export type ListedCampaign = {
  id: string;
  name: string;
  /** Identifies the record in files and across projects. Does not change with the name. */
  slug: string;
  description: string | null;
  subject: string;
  body?: string;
  preheader: string | null;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  type: CampaignType;
  audienceType: CampaignType;
  segmentId: string | null;
  topicId: string | null;
  filters?: Record<string, unknown> | null;
  audienceFilter?: Record<string, unknown> | null;
  audienceCondition?: Record<string, unknown> | null;
  sendAtLocal: string | null;
  latePolicy: LatePolicy;
  /** Sending window of this campaign, or null if no window applies. Absent if the project's window applies. */
  sendingWindow?: {
    from: string;
    to: string;
    days?: number[];
    timezone?: "contact" | string;
  } | null;
  /** When the next recipients get the email, if recipients wait for a local time or a sending window */
  nextOpening: string | null;
  status: CampaignStatus;
  scheduledAt: string | null;
  scheduledFor: string | null;
  startedAt: string | null;
  sentAt: string | null;
  cancelledAt: string | null;
  /** Why the campaign is PAUSED. `requested`: a user paused it. `template_timeout`: rendering the content took too long for 20 recipients in a row. `database_restored`: the database was restored from a backup, so some recipients may already have got the email. */
  pausedReason: CampaignPausedReason | null;
  /** Variants of the content. Fields that a variant does not set have the value of the campaign. */
  variants?: CampaignVariant[] | null;
  test: CampaignTest;
  /** Null if the campaign has no test. `WAITING`: the emails of the share were sent, and the winner is chosen at `testEndsAt`. `ENDED`: the campaign has ended without a winner, because no recipient waited for one or the campaign was cancelled. */
  testState: CampaignTestState | null;
  /** When the winner is chosen. Null until all emails of the share were sent, failed or were deferred. */
  testEndsAt: string | null;
  /** Name of the variant that the remaining recipients get */
  winner: string | null;
  /** Whether the test or a user chose the winner */
  winnerBy: CampaignWinnerBy | null;
  winnerAt: string | null;
  totalRecipients: number;
  pendingCount: number;
  sentCount: number;
  deliveredCount: number;
  openedCount: number;
  clickedCount: number;
  bouncedCount: number;
  complainedCount: number;
  unsubscribedCount: number;
  failedCount: number;
  skippedCount: number;
  createdAt: string;
  updatedAt: string;
  /** Large fields are omitted, because a page is at most 4 MB. Get the record itself to read them. */
  truncated?: boolean;
};

export type ListedContact = {
  id: string;
  email: string;
  subscribed: boolean;
  subscription: SubscriptionState;
  /** Consent to SMS, independent of `subscribed` */
  smsSubscribed: boolean;
  data?: Record<string, unknown>;
  /** Whether the contact is subscribed to each of the project's topics, by topic id. If the contact has not chosen, this is the default of the topic. */
  topics: Record<string, boolean>;
  createdAt: string;
  updatedAt: string;
  /** Large fields are omitted, because a page is at most 4 MB. Get the record itself to read them. */
  truncated?: boolean;
};

export type ListedContactJob = {
  id: string;
  kind: BulkJobKind;
  status: BulkJobStatus;
  state: BulkJobState;
  progress: number;
  total: number;
  processed: number;
  failedReason: string | null;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
  result: {
    totalRows: number;
    successCount: number;
    createdCount: number;
    updatedCount: number;
    failureCount: number;
    /** Skipped blank lines, and rows that contain only separators. They are not in `totalRows`. */
    blankRows?: number;
    /** Failed rows that are not valid CSV. At 1,000, the job is FAILED. */
    unreadableRows?: number;
    /** Number of rows that were imported although a value, such as a phone number, is not valid */
    warningCount?: number;
    /** Explains how the import treats columns that it recognizes by their names, such as `Newsletter`, which sets the subscription */
    notes?: string[];
  } | {
    operation: BulkJobResultOperation;
    totalRequested: number;
    successCount: number;
    failureCount: number;
  };
};

export type ListedSegment = {
  id: string;
  name: string;
  /** Derived from the name. Part of the event names `segment.<slug>.entry` and `segment.<slug>.exit`. */
  slug: string;
  description?: string | null;
  type: SegmentType;
  /** Null for a STATIC segment */
  filters?: Condition | null;
  /** Alias of `filters` */
  condition?: Condition | null;
  /** Whether the segment is tracked: its members are stored, and events record which contacts enter and leave. */
  trackMembership: boolean;
  /** Number of members at the last count */
  memberCount: number;
  computedAt: string | null;
  createdAt: string;
  updatedAt: string;
  /** Large fields are omitted, because a page is at most 4 MB. Get the record itself to read them. */
  truncated?: boolean;
};

export type ListedTemplate = Template & {
  /** Large fields are omitted, because a page is at most 4 MB. Get the record itself to read them. */
  truncated?: boolean;
};

export type ListedWorkflow = Workflow & {
  /** Large fields are omitted, because a page is at most 4 MB. Get the record itself to read them. */
  truncated?: boolean;
};

export type LoggedRequest = {
  id: string;
  /** The `X-Request-Id` of the response, which the caller may have set */
  requestId: string;
  method: string;
  /** Path as in this document, without ids and query */
  route: string;
  status: number;
  /** Milliseconds until the response started */
  ms: number;
  /** The sender of the request: a secret key, a user, or the public key */
  by: LoggedRequestBy;
  keyId: string | null;
  userId: string | null;
  errorCode: string | null;
  createdAt: string;
};

export type LoggedRequestBy = "key" | "user" | "public";

export type LoggedRequestDetail = LoggedRequest & ({
  /** Records that the request created or changed, as they are now: the first 100 of each kind */
  made: {
    contacts: {
      id: string;
      email: string;
    }[];
    events: ({
      id: string;
      name: string;
      contactId: string | null;
    })[];
    executions: {
      id: string;
      workflowId: string;
      workflowName: string;
      contactId: string;
      status: ExecutionStatus;
    }[];
    emails: ({
      id: string;
      contactId: string | null;
      executionId: string | null;
      to: string | null;
      status: EmailItemStatus;
      reason: string | null;
    })[];
    sms: ({
      id: string;
      executionId: string | null;
      to: string;
      status: AcceptedSmsStatus;
      reason: string | null;
    })[];
  };
});

export type LoggedRequestList = {
  data: LoggedRequest[];
  cursor: string | null;
  hasMore: boolean;
};

export type Login = {
  email: string;
  password: string;
};

export type LookAtInvitation = {
  /** The part of the link after `#` */
  token: string;
};

export type MailDay = {
  date: string;
  sent: number;
  delivered: number;
  /** First opens by humans */
  opened: number;
  /** First clicks by humans */
  clicked: number;
  bounced: number;
  complained: number;
};

export type MailOverview = {
  /** Time zone of the days, which is the project's `timezone`. Counts are stored per hour in UTC. If midnight in this zone is not at a full hour of UTC, the hour around midnight counts for the day in which it starts. */
  timezone: string;
  /** `reported`: the provider reports each delivery. `sent_minus_bounced`: the provider does not, so the count is the sent emails minus the bounced emails. */
  deliveredBasis: MailOverviewDeliveredBasis;
  totals: MailTotals;
  rates: MailRates;
  days: MailDay[];
  /** The same values for the time span of the same length just before */
  previous: {
    totals: MailTotals;
    rates: MailRates;
    days: MailDay[];
  };
};

export type MailOverviewDeliveredBasis = "reported" | "sent_minus_bounced";

/** Percentages of the emails sent in the time span */
export type MailRates = {
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
};

export type MailTotals = {
  sent: number;
  delivered: number;
  /** First opens by humans */
  opened: number;
  /** First clicks by humans */
  clicked: number;
  bounced: number;
  complained: number;
};

export type Me = {
  user: {
    id: string;
    email: string;
  };
  projects: {
    id: string;
    name: string;
    role: MeRole;
  }[];
  projectId: string;
  role: MeRole;
  permissions: MePermissions[];
  hold: Hold;
  /** Whether the user is an operator of the service, listed in `OPERATORS` */
  operator: boolean;
};

export type MePermissions = "email:send" | "emails:view" | "sms:send" | "sms:view" | "contacts:view" | "contacts:edit" | "templates:view" | "templates:edit" | "campaigns:view" | "campaigns:edit" | "campaigns:send" | "segments:view" | "segments:edit" | "workflows:view" | "workflows:edit" | "events:view" | "events:edit" | "domains:view" | "domains:edit" | "analytics:view" | "apikeys:manage" | "team:manage" | "billing:manage" | "project:manage" | "campaigns:approve";

export type MeRole = "OWNER" | "ADMIN" | "MEMBER";

export type NamedUse = {
  id: string;
  name: string;
};

export type OpenInvitation = {
  email: string;
  role: MeRole;
  projectName: string;
  invitedBy: string;
  expiresAt: string;
};

export type OperatorHealth = {
  /** Version of the API process that responds */
  version: string | null;
  installation: {
    /** Short id of the installation, which is part of each name in Temporal */
    shortId: string;
    sendingHold: SendingHold;
  };
  postgres: {
    pingMs: number;
    version: string;
    connections: number;
    maxConnections: number;
    databaseBytes: number;
    longestTransactionSeconds: number;
  };
  temporal: {
    reached: boolean;
    pingMs: number | null;
    /** Approximate counts by Temporal. Empty if Temporal is unreachable. */
    queues: {
      queue: string;
      backlog: number;
      backlogSeconds: number;
      addedPerSecond: number;
      dispatchedPerSecond: number;
      pollers: number;
    }[];
  };
  /** Accepted work that has not started, by kind. Empty if nothing waits. */
  outbox: ({
    kind: string;
    waiting: number;
    handedOver: number;
    oldestSeconds: number;
    projects: number;
    failing: number;
    lastError: string | null;
  })[];
  /** State of each kind of periodic work */
  periodicWork: ({
    kind: OperatorHealthPeriodicWorkKind;
    everyMinutes: number;
    /** True if a round is running. If an operator terminates a round, true until the next round is due */
    running: boolean;
    lastStartedAt: string | null;
    lastEndedAt: string | null;
    lastDurationSeconds: number | null;
    /** Number of segments, domains or hours of statistics that have been due for two periods. For recovery and pruning, the number of parts that the last round did not finish. */
    backlog: number;
    /** Projects, pages or tables that failed in the last round */
    failing: string[];
    lastError: string | null;
    lastErrorAt: string | null;
    /** True if no round has ended for three periods */
    late: boolean;
  })[];
  /** Processes that ran within the last day. Processes that stopped normally are not listed. */
  processes: {
    id: string;
    kind: OperatorHealthProcessesKind;
    host: string;
    pid: number;
    version: string;
    /** Hash of the compiled code. Processes with the same code have the same value. */
    build: string;
    startedAt: string;
    seenAt: string;
    /** Whether the process was seen within the last 35 seconds */
    alive: boolean;
  }[];
};

export type OperatorHealthPeriodicWorkKind = "recovery" | "pruning" | "statistics" | "segments" | "domains";

export type OperatorHealthProcessesKind = "api" | "worker";

export type PatchContact = {
  email?: string;
  subscribed?: boolean;
  /** Set it to true to subscribe a contact that has unsubscribed personally. Only needed if the project's setting `resubscribe` is `protect`. */
  resubscribe?: boolean;
  /** Custom fields. Null deletes a field, an empty string changes nothing, and a value `{value, persistent: false}` is not stored. */
  data?: Record<string, unknown> | null;
  /** Whether the contact is subscribed to each topic, by topic id. Topics that are not listed do not change. */
  topics?: Record<string, boolean>;
};

export type PatchDomain = {
  signing: boolean;
};

/** Omitted fields do not change; null removes a limit. The guards are fractions: 0.1 means 10 %. A limit above `operatorLimits` returns 422. If the operator has set no limit, `bounceGuard` is at most 0.1 and `complaintGuard` at most 0.003. */
export type PatchProject = {
  name?: string;
  tracking?: ProjectTracking;
  color?: string | null;
  /** Maximum number of MARKETING emails from campaigns and automations to a contact within a rolling number of days. Failed emails do not count. */
  frequencyCap?: {
    max: number;
    days: number;
  } | null;
  /** IANA time zone, such as `Europe/Berlin`, for contacts without a valid `data.timezone` */
  timezone?: string;
  sendingWindow?: SendingWindow | null;
  /** While `enabled`: if a request with the public key subscribes a contact, the contact becomes `pending` and gets an email of the template. The template must contain the link `{{confirmUrl}}`. The page behind that link subscribes the contact. */
  doubleOptIn?: {
    enabled: boolean;
    templateId?: string | null;
  };
  /** Country of phone numbers without a calling code */
  phoneCountry?: string | null;
  /** With `protect`, `subscribed: true` does not subscribe a contact that unsubscribed personally, unless the request has `resubscribe: true`. */
  resubscribe?: ProjectResubscribe;
  /** With `protected`, `/v1/track` with the public key cannot overwrite values of the project. With `open`, the rules of a secret key apply, except that the public key can subscribe a contact again only if it was unsubscribed with the public key. */
  publicKeyMode?: TrackedEventMode;
  sendRatePerSecond?: number | null;
  monthlyEmailLimit?: number | null;
  bounceGuard?: number;
  complaintGuard?: number;
};

export type PatchSegment = {
  /** Version of the record that you read. Returns 409 if the record has changed since. Without it, the last write wins. */
  updatedAt?: string;
  name?: string;
  slug?: SlugInput;
  description?: string | null;
  filters?: ConditionInput;
  /** Alias of `filters` */
  condition?: ConditionInput;
  trackMembership?: boolean;
};

export type PatchTemplate = {
  name?: string;
  slug?: SlugInput;
  description?: string | null;
  subject?: string;
  /** HTML with Liquid, at most 512 KB */
  body?: string;
  preheader?: Preheader;
  /** Address of the sender. Must be on a verified domain. A display name in `from` sets `fromName`, unless the request has `fromName`. */
  from?: string | {
    name?: string;
    email: string;
  } | null;
  fromName?: string | null;
  replyTo?: string | null;
  type?: TemplateType;
  /** Topic of the emails; only for MARKETING */
  topicId?: string | null;
  /** Version of the record that you read. Returns 409 if the record has changed since. Without it, the last write wins. */
  updatedAt?: string;
};

export type PatchTopic = {
  name?: string;
  /** Identifies the topic. Derived from the name if omitted. Unique in the project. A new name does not change it. */
  slug?: string;
  /** Shown to contacts on the preference page */
  description?: string | null;
  /** Whether contacts without a choice are subscribed to the topic. Defaults to true. */
  defaultSubscribed?: boolean;
};

export type PatchWebhookEndpoint = {
  url?: string;
  /** Event names, prefixes such as `email.*`, or `*` */
  events?: string[];
  description?: string | null;
  enabled?: boolean;
};

export type PatchWorkflow = {
  /** Version of the record that you read. Returns 409 if the record has changed since. Without it, the last write wins. */
  updatedAt?: string;
  name?: string;
  slug?: SlugInput;
  description?: string | null;
  triggerType?: WorkflowTriggerType;
  eventName?: string | null;
  triggerConfig?: {
    eventName?: string | null;
    /** Whether automatic emails (out-of-office replies, list and bulk email) start executions on `email.received`. Defaults to false. */
    includeAutomatic?: boolean;
  } | null;
  /** Whether automatic emails (out-of-office replies, list and bulk email) start executions on `email.received`. Defaults to false. */
  includeAutomatic?: boolean;
  enabled?: boolean;
  allowReentry?: boolean;
  /** Path of a value in the event or the context, such as `event.cartId`. A contact can then have one active execution for each value. If `reentryKey` is null, a contact can have only one active execution. */
  reentryKey?: string | null;
  exitOn?: ExitOn;
  exitWhenUnsubscribed?: boolean;
  entryStepId?: string | null;
};

export type PatchWorkflowStep = {
  /** Version of the record that you read. Returns 409 if the record has changed since. Without it, the last write wins. */
  updatedAt?: string;
  name?: string;
  config?: Record<string, unknown>;
  templateId?: string | null;
  position?: {
    x: number;
    y: number;
  } | null;
};

export type PatchedContact = Contact & {
  _meta?: {
    /** True if the request subscribed a contact that had unsubscribed personally */
    resubscribed?: boolean;
  };
};

/** One event, or `events` with up to 100 events. With `events`, the other fields are ignored. */
export type Pixel = {
  name?: string;
  clientId?: string | null;
  email?: string | null;
  data?: Record<string, unknown> | null;
  timestamp?: string | null;
  events?: PixelEvent[];
};

export type PixelAccepted = {
  accepted: number;
};

export type PixelEvent = {
  name: string;
  clientId?: string | null;
  email?: string | null;
  data?: Record<string, unknown> | null;
  timestamp?: string | null;
};

/** Preview text that email apps show beside the subject. Text with Liquid. The HTML part contains it as hidden text at the start. */
export type Preheader = string | null;

export type PreviewCondition = {
  filters?: ConditionInput;
  /** Alias of `filters` */
  condition?: ConditionInput;
};

/** Instead of `contactId`: a person who is not a contact of the project. */
export type PreviewContact = {
  email: string;
  subscribed?: boolean;
  data?: Record<string, unknown> | null;
};

export type PreviewTemplate = {
  subject: string;
  /** HTML with Liquid, at most 512 KB */
  body: string;
  preheader?: Preheader;
  /** The body of a MARKETING email without an unsubscribe link gets a footer with the link */
  type?: TemplateType;
  /** Contact to render the template for; needs `contacts:view` */
  contactId?: string | null;
  /** Values that replace the contact's values of the same name */
  data?: Record<string, unknown> | null;
};

export type PreviewWorkflow = {
  contactId?: string;
  contact?: PreviewContact;
  /** The data of the event that starts the workflow. */
  event?: Record<string, unknown> | null;
  context?: Record<string, unknown> | null;
  /** When the simulated execution starts. Defaults to now. */
  startAt?: string;
  /** Events that occur during the simulated execution. */
  events?: RunEvent[];
  /** Responses that endpoints are assumed to return. Without an entry for a step, 200 is assumed. If a step has several entries, they apply to its visits in order. */
  webhooks?: {
    /** Id or name of a WEBHOOK step. */
    step: string;
    status?: number;
    body?: unknown;
  }[];
};

export type Project = {
  id: string;
  name: string;
  /** The public key */
  public: string;
  tracking: ProjectTracking;
  /** Color of the hosted pages, as `#rrggbb` */
  color: string | null;
  doubleOptIn: {
    enabled: boolean;
    templateId: string | null;
  };
  frequencyCap: {
    max: number;
    days: number;
  } | null;
  /** IANA time zone for contacts without a valid `data.timezone` */
  timezone: string;
  sendingWindow: SendingWindow | null;
  /** Country of phone numbers without a calling code */
  phoneCountry: string | null;
  resubscribe: ProjectResubscribe;
  publicKeyMode: TrackedEventMode;
  sendRatePerSecond: number | null;
  monthlyEmailLimit: number | null;
  bounceGuard: number;
  complaintGuard: number;
  hold: Hold;
  /** Limits that the operator of the service has set. The project cannot exceed them. Null if the operator has set no limit. `sendRatePerSecond`, `monthlyEmailLimit`, `bounceGuard` and `complaintGuard` of the project show the limits that apply: the lower of the operator's and the project's. */
  operatorLimits: {
    sendRatePerSecond: number | null;
    monthlyEmailLimit: number | null;
    bounceGuard: number | null;
    complaintGuard: number | null;
    held: boolean;
  };
  disabled: boolean;
  createdAt: string;
  updatedAt: string;
};

export type ProjectResubscribe = "allow" | "protect";

export type ProjectTracking = "ENABLED" | "MARKETING_ONLY" | "DISABLED";

export type ProviderAnswers = {
  /** `EMAIL_PROVIDER` of the API */
  provider: string;
  /** Number of live emails that were counted: at most the newest 200,000 */
  looked: number;
  /** When the oldest of these emails was accepted */
  since: string | null;
  answers: {
    code: string;
    mails: number;
    projects: number;
    failed: number;
    bounced: number;
    /** Number of emails that will be retried */
    waiting: number;
    newestAt: string;
    /** The latest reply in full */
    example: string;
    domains: {
      domain: string;
      mails: number;
    }[];
  }[];
  /** The topics in `SNS_TOPIC_ARNS`. `refused`: the subscription uses raw message delivery, so its messages cannot be verified. */
  snsTopics: ({
    topic: string;
    state: ProviderAnswersSnsTopicsState;
    /** When the latest message arrived */
    since: string | null;
  })[];
};

export type ProviderAnswersSnsTopicsState = "waiting" | "confirmed" | "delivering" | "refused";

export type PutCampaign = {
  name?: string;
  slug?: SlugInput;
  description?: string | null;
  subject?: string;
  /** HTML with Liquid, at most 512 KB */
  body?: string;
  preheader?: Preheader;
  /** Address of the sender. Must be on a verified domain. A display name in `from` sets `fromName`, unless the request has `fromName`. */
  from?: string | {
    name?: string;
    email: string;
  };
  fromName?: string | null;
  replyTo?: string | null;
  audienceType?: CampaignType;
  /** Alias of `audienceType` */
  type?: CampaignType;
  segmentId?: string | null;
  /** Audience of a FILTERED campaign. `audienceFilter`, `audienceCondition` and `filters` are aliases. */
  audienceFilter?: Record<string, unknown> | null;
  /** Alias of `audienceFilter` */
  audienceCondition?: Record<string, unknown> | null;
  /** Alias of `audienceFilter` */
  filters?: Record<string, unknown> | null;
  /** Topic of the campaign. Contacts that left the topic do not get the campaign. */
  topicId?: string | null;
  sendAtLocal?: SendAtLocal;
  latePolicy?: LatePolicy;
  /** Sending window of this campaign. With null, no window applies. With `project`, the default, the project's window at the time of sending applies. */
  sendingWindow?: SendingWindow | string | null;
  /** 2 to 5 variants with distinct names. Null or an empty list removes all variants. */
  variants?: CampaignVariantInput[] | null;
  test?: CampaignTestInput;
  /** Reschedules a SCHEDULED campaign to this time */
  scheduledFor?: string | null;
  /** Version of the record that you read. Returns 409 if the record has changed since. Without it, the last write wins. */
  updatedAt?: string;
  /** Alias of `scheduledFor` */
  scheduledAt?: string | null;
};

export type PutVariants = {
  variants: VariantInput[];
};

export type QueuedJob = {
  message: string;
  jobId: string;
};

/** Wilson interval of a rate, from 0 to 1, with 95 % confidence */
export type RateInterval = {
  low: number;
  high: number;
};

export type ReadyHealth = Health & {
  details: {
    /** Accepted work that has not started: the number of waiting rows of the outbox, of rows whose workflow waits in Temporal for its first task, and the age of the oldest row. The values are at most five seconds old. The metrics `tidings_outbox_*` show them by project. */
    outbox: {
      waiting: number;
      handedOver: number;
      oldestSeconds: number;
      kinds: {
        kind: string;
        waiting: number;
        handedOver: number;
        oldestSeconds: number;
      }[];
    };
  };
};

export type RecentActivityCount = {
  count: number;
  minutes: number;
};

export type RecordEvent = {
  name: string;
  contactId?: string | null;
  emailId?: string | null;
  data?: Record<string, unknown> | null;
};

export type RefreshedSegment = {
  memberCount: number;
};

export type ReleaseTenant = {
  /** Recorded in the audit log */
  note?: string;
};

export type RemoveSegmentMembers = {
  emails: string[];
};

export type RemovedSegmentMembers = {
  removed: number;
};

export type ReplayWebhooks = {
  since: string;
  status?: WebhookDeliveryStatus;
};

export type ReplayedDeliveries = {
  replayed: number;
  nextSince: string | null;
};

export type RetryCampaign = {
  /** Retries only recipients that failed with one of these reasons. By default, all of these reasons are retried. */
  reasons?: RetryCampaignReasons[] | null;
};

export type RetryCampaignReasons = "provider_rejected" | "expired" | "template_error" | "sender_not_verified" | "limit_reached";

export type RoutePauses = {
  data: ({
    id: string;
    /** Null if the pause affects all projects */
    projectId: string | null;
    projectName: string | null;
    /** The command that was refused, such as `rcpt` */
    stage: string;
    /** The mail server's reply, without addresses */
    reply: string;
    since: string;
    /** When the service next tests whether the server accepts email again */
    nextProbeAt: string;
  })[];
};

export type RunEvent = {
  name: string;
  /** When the event occurs, in simulated time. If omitted, it occurs as soon as a step waits for it. */
  at?: string;
  data?: Record<string, unknown> | null;
};

export type SaveContact = {
  email: string;
  subscribed?: boolean;
  /** Set it to true to subscribe a contact that has unsubscribed personally. Only needed if the project's setting `resubscribe` is `protect`. */
  resubscribe?: boolean;
  /** Custom fields. Null deletes a field, an empty string changes nothing, and a value `{value, persistent: false}` is not stored. */
  data?: Record<string, unknown> | null;
  /** Whether the contact is subscribed to each topic, by topic id. Topics that are not listed do not change. */
  topics?: Record<string, boolean>;
};

export type SaveWorkflowGraph = {
  /** Version of the graph that you have read with `GET /workflows/{id}`. If the request has no `version`, no `updatedAt` and no `If-Match`, it overwrites any version. */
  version?: string;
  /** Version of the record that you read. Returns 409 if the record has changed since. Without it, the last write wins. */
  updatedAt?: string;
  entryStepId: string | null;
  steps: WorkflowGraphStep[];
  transitions: WorkflowGraphTransition[];
  /** Returns the result without saving it. */
  dryRun?: boolean;
};

export type SavedContact = Contact & {
  _meta: {
    isNew: boolean;
    isUpdate: boolean;
    /** True if the request subscribed a contact that had unsubscribed personally */
    resubscribed?: boolean;
  };
};

export type SavedWorkflowGraph = {
  workflow: WorkflowDetail;
  /** Stored ids of new steps, by the `id` that each has in the request. */
  ids: Record<string, string>;
  /** Errors that prevent the workflow from being enabled. The `field` of an error about a step is `steps.<id>`, with the `id` of the step in the request. */
  faults: {
    field: string;
    message: string;
    code: string;
  }[];
  dryRun: boolean;
};

export type Segment = {
  id: string;
  name: string;
  /** Derived from the name. Part of the event names `segment.<slug>.entry` and `segment.<slug>.exit`. */
  slug: string;
  description: string | null;
  type: SegmentType;
  /** Null for a STATIC segment */
  filters: Condition | null;
  /** Alias of `filters` */
  condition: Condition | null;
  /** Whether the segment is tracked: its members are stored, and events record which contacts enter and leave. */
  trackMembership: boolean;
  /** Number of members at the last count */
  memberCount: number;
  computedAt: string | null;
  createdAt: string;
  updatedAt: string;
};

export type SegmentChange = {
  /** Id of the change. For a tracked segment, this is also the id of the event `segment.<slug>.entry` or `segment.<slug>.exit`. */
  id: string;
  change: SegmentChangeChange;
  /** Null if the contact has been erased */
  contactId: string | null;
  email: string | null;
  /** The user or key that added the contact to a STATIC segment, or removed it: `user:<id>` or `key:<id>`. Null for a tracked segment. */
  actor: string | null;
  /** Email address of the user, or name of the key. Null if the actor has no name. */
  actorName: string | null;
  at: string;
};

export type SegmentChangeChange = "entry" | "exit";

export type SegmentContacts = {
  contacts: ListedContact[];
  data: ListedContact[];
  page: number;
  pageSize: number;
  total: number;
  totalPages: number;
};

export type SegmentExplanation = {
  segmentId: string;
  contactId: string;
  type: SegmentType;
  /** Whether the contact is in the segment now */
  holds: boolean;
  /** Whether the contact is a stored member of a STATIC or tracked segment. Null for other segments. */
  member: boolean | null;
  filters: {
    /** Path of the filter in the condition; `members` for a STATIC segment */
    path: string;
    field: string;
    operator: FilterOperator;
    value?: unknown;
    unit?: FilterUnit;
    /** The value that the contact has in `field`. For a filter on events or emails, the time of the latest event or email. For a filter on a segment, whether the contact is a member. Null if the contact has no value. */
    contactValue?: unknown;
    holds: boolean;
  }[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type SegmentFile = {
  /** Identifies the resource. It is created if it does not exist. */
  slug: SlugInput;
  name?: string;
  description?: string | null;
  type?: SegmentType;
  /** Same as `filters` of a segment, with `segment.<slug>` instead of `segment.<id>` */
  condition?: unknown;
  trackMembership?: boolean;
};

export type SegmentPreview = {
  count: number;
  /** The newest 10 matching contacts */
  sample: Contact[];
};

export type SegmentType = "DYNAMIC" | "STATIC";

export type SegmentUsage = {
  usedInSegments: NamedUse[];
  usedInCampaigns: (NamedUse & {
    status: CampaignStatus;
  })[];
  usedInWorkflows: NamedUse[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
  /** False while a SCHEDULED, SENDING or PAUSED campaign uses the segment */
  canDelete: boolean;
};

/** Local time at which each recipient gets the email, in the time zone of the contact's `data.timezone` or else of the project. If a sending window is closed at this time, the email waits until the window opens. Cannot be combined with `scheduledFor`. */
export type SendAtLocal = string | null;

export type SendCampaign = {
  /** Time to send the campaign. Sends now if omitted or null. */
  scheduledFor?: string | null;
  /** Alias of `scheduledFor` */
  scheduledAt?: string | null;
  sendAtLocal?: SendAtLocal;
  latePolicy?: LatePolicy;
};

export type SendEmail = {
  /** One or more recipients. Each gets a separate email. */
  to: string | {
    name?: string;
    email: string;
  } | (string | {
    name?: string;
    email: string;
  })[];
  subject?: string;
  /** HTML, with Liquid variables */
  body?: string;
  /** Id of a template, instead of `subject` and `body` */
  template?: string;
  /** Sender. Must be on a verified domain. You can omit it if the template has a sender. */
  from?: string | {
    name?: string;
    email: string;
  };
  /** Sender name, if `from` is only an address */
  name?: string;
  /** Has no effect, because the body is always HTML. Accepted for clients that were written for other services. */
  type?: "html";
  subscribed?: boolean;
  data?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Visible copies of the email to the one recipient in `to` */
  cc?: string | {
    name?: string;
    email: string;
  } | (string | {
    name?: string;
    email: string;
  })[];
  /** Blind copies of the email to the one recipient in `to` */
  bcc?: string | {
    name?: string;
    email: string;
  } | (string | {
    name?: string;
    email: string;
  })[];
  /** Reply-To: one or more mailboxes */
  reply?: string | {
    name?: string;
    email: string;
  } | (string | {
    name?: string;
    email: string;
  })[];
  /** Alias of `reply` */
  replyTo?: string | {
    name?: string;
    email: string;
  } | (string | {
    name?: string;
    email: string;
  })[];
  attachments?: {
    filename: string;
    content: string;
    contentType: string;
    contentId?: string;
    disposition?: SendEmailAttachmentsDisposition;
    /** Adds the file as another form of the body, such as an invitation: `text/calendar; method=REQUEST` */
    alternative?: boolean;
  }[];
};

export type SendEmailAttachmentsDisposition = "attachment" | "inline";

export type SendEmailBatch = {
  /** Emails, each in the same form as the body of `POST /v1/send` */
  emails: SendEmail[];
  /** Whether to accept all emails or none */
  atomic?: boolean;
};

export type SendSms = {
  to: string;
  body: string;
  /** Contact of the SMS. If omitted, the service finds the contact by the number. */
  contactId?: string;
};

export type Sending = {
  sendingHold: SendingHold;
};

/** Why the installation sends nothing. Null if it sends. */
export type SendingHold = {
  /** `new`: the installation is a clone and waits until its operator resumes sending. `recovery`: the database was restored, and sending resumes when recovery has ended. */
  reason: SendingHoldReason;
  since: string;
} | null;

export type SendingHoldReason = "new" | "recovery";

/** When marketing email may be sent: from `from` until just before `to`, on `days` (1 is Monday; all days by default). `timezone` is an IANA zone, or `contact` for the zone of each contact. The default is the project's zone. If `from` is after `to`, the window spans midnight and belongs to the day on which it starts. */
export type SendingWindow = {
  from: string;
  to: string;
  days?: number[];
  timezone?: "contact" | string;
};

/** One entry per recipient, in the order of `to`, `cc` and `bcc`. `email` is the id of the email record. */
export type Sent = {
  success: boolean;
  data: {
    emails: {
      contact: {
        id: string;
        email: string;
      };
      email: string;
      /** Set for a copy */
      role?: SentEmailsRole;
    }[];
    /** Copies that are not sent, with the reason */
    skipped?: {
      email: string;
      reason: SentSkippedReason;
    }[];
    timestamp: string;
  };
};

export type SentEmailsRole = "cc" | "bcc";

export type SentSkippedReason = "suppressed" | "unsubscribed";

export type ServiceHealth = Health & {
  project?: {
    id: string;
    hold: Hold;
  };
};

export type SignUpState = {
  open: boolean;
};

export type Signup = {
  email: string;
  password: string;
  projectName: string;
};

/** Identifies the record in files and across projects. Unique in the project. */
export type SlugInput = string;

export type Sms = SmsItem & ({
  body: string;
  /** The workflow of `workflowExecutionId` */
  workflowId: string | null;
  /** Message id of the provider */
  messageId: string | null;
});

export type SmsItem = AcceptedSms & ({
  contactId: string | null;
  mode: ApiKeyMode;
  sourceType: SmsItemSourceType;
  workflowExecutionId: string | null;
  reason: string | null;
  error: string | null;
  createdAt: string;
  sentAt: string | null;
  deliveredAt: string | null;
});

export type SmsItemSourceType = "TRANSACTIONAL" | "WORKFLOW";

export type SmsSender = {
  id: string;
  country: string | null;
  from: string;
  createdAt: string;
};

export type SmsStop = {
  id: string;
  /** Null after the contact is erased */
  phone: string | null;
  /** Sender that may not send SMS to the number. Null means all senders, and `import` means a refusal in an imported file. */
  from: string | null;
  source: string;
  /** The user, key or person that added the entry: `user:<id>`, `key:<id>`, or `contact` for the person */
  actor: string | null;
  createdAt: string;
};

export type StartExecution = {
  contactId: string;
  context?: Record<string, unknown> | null;
  /** Tests the workflow, even if it is disabled. Emails and SMS have the mode `test`, and no webhook is called. The contact does not change, no other workflow starts, and the execution is not counted in statistics. */
  sandbox?: boolean;
  /** For a sandbox: pauses end immediately. A WAIT_FOR_EVENT times out, unless one of `events` ends it. */
  skipDelays?: boolean;
  /** For a sandbox: events that occur during the execution. */
  events?: RunEvent[];
};

export type StepType = "SEND_EMAIL" | "DELAY" | "WAIT_FOR_EVENT" | "CONDITION" | "WEBHOOK" | "UPDATE_CONTACT" | "EXIT" | "SEND_SMS" | "SPLIT";

export type StepVisit = {
  executionId: string;
  contactId: string;
  /** Null after the contact is erased */
  email: string | null;
  status: StepVisitStatus;
  attempts: number;
  startedAt: string;
  completedAt: string;
  /** Same as `output` of the step in the execution: `reason` of a skipped step, `branch`, `emailId` … */
  output: Record<string, unknown> | null;
  error: string | null;
};

export type StepVisitList = {
  data: StepVisit[];
  cursor: string | null;
  hasMore: boolean;
  /** Number of visits in the statistics, including visits whose records have been deleted. Null for `status=CANCELLED`. 0 on later pages. */
  total: number | null;
};

export type StepVisitStatus = "COMPLETED" | "SKIPPED" | "FAILED" | "CANCELLED";

/** `pending` means that the contact got an email to confirm the subscription. The contact is not subscribed until the person confirms. */
export type SubscriptionState = "subscribed" | "unsubscribed" | "pending";

export type Suppression = {
  id: string;
  /** Null after the contact is erased */
  email: string | null;
  reason: SuppressionReason;
  source: string;
  /** The user, key or person that added the entry: `user:<id>`, `key:<id>`, or `contact` for the person. Null if unknown. */
  actor: string | null;
  createdAt: string;
};

export type SuppressionReason = "hard_bounce" | "complaint" | "unsubscribe" | "manual";

export type SwitchProject = {
  projectId: string;
};

export type Team = {
  members: TeamMember[];
  invitations: TeamInvitation[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type TeamInvitation = {
  id: string;
  email: string;
  role: MeRole;
  /** Address of the user who sent the invitation */
  invitedBy: string;
  createdAt: string;
  expiresAt: string;
};

export type TeamMember = {
  userId: string;
  email: string;
  role: MeRole;
  /** When the member joined */
  createdAt: string;
};

export type Template = {
  id: string;
  name: string;
  /** Identifies the record in files and across projects. Does not change with the name. */
  slug: string;
  description: string | null;
  subject: string;
  body: string;
  preheader: string | null;
  from: string | null;
  fromName: string | null;
  replyTo: string | null;
  type: TemplateType;
  topicId: string | null;
  createdAt: string;
  updatedAt: string;
};

export type TemplateFile = {
  name?: string;
  /** Identifies the resource. It is created if it does not exist. */
  slug: SlugInput;
  description?: string | null;
  subject?: string;
  /** HTML with Liquid, at most 512 KB */
  body?: string;
  preheader?: Preheader;
  /** Address of the sender. Must be on a verified domain. A display name in `from` sets `fromName`, unless the request has `fromName`. */
  from?: string | {
    name?: string;
    email: string;
  } | null;
  fromName?: string | null;
  replyTo?: string | null;
  type?: TemplateType;
  /** Slug of the topic of its emails */
  topic?: string | null;
};

export type TemplateList = {
  templates: ListedTemplate[];
  page: number;
  pageSize: number;
  total: number;
  totalPages: number;
  cursor: string | null;
  hasMore: boolean;
};

export type TemplatePreview = {
  subject: string;
  /** Rendered preview text, which email apps show beside the subject. `html` contains it as hidden text. */
  preheader: string | null;
  html: string;
  text: string;
  /** Variables that have neither a value nor a default */
  missingVariables: string[];
  findings: Finding[];
};

export type TemplateTestSent = {
  success: boolean;
  data: {
    emailId: string;
    email: string;
  };
  message: string;
};

export type TemplateType = "TRANSACTIONAL" | "MARKETING";

export type TemplateUsage = {
  campaigns: {
    id: string;
    name: string;
  }[];
  workflowSteps: {
    id: string;
    name: string;
    workflowId: string;
    workflowName: string;
  }[];
  emailsSent: number;
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type Tenant = {
  id: string;
  name: string;
  /** Email addresses of the first owners of the project */
  owners: string[];
  createdAt: string;
  disabled: boolean;
  ownHold: TenantHold;
  operatorHold: TenantHold;
  /** The lower of the limits that the project and the operator have set. `SEND_RATE_PER_SECOND` of the installation is not included. */
  limits: {
    sendRatePerSecond: number | null;
    monthlyEmailLimit: number | null;
    bounceGuard: number;
    complaintGuard: number;
  };
  operatorLimits: {
    sendRatePerSecond: number | null;
    monthlyEmailLimit: number | null;
    bounceGuard: number | null;
    complaintGuard: number | null;
  };
  /** Number of live emails in the last 24 hours, or since the last release of a hold if it was later. The guards use this number. */
  mails: number;
  /** Hard bounces among these emails */
  dead: number;
  complaints: number;
  /** Outcomes of live emails in the last 30 days, including emails from before a hold was released. The last one or two hours are not included, because hours are counted after they have ended. */
  month: {
    sent: number;
    bounced: number;
    complained: number;
  };
};

export type TenantDetail = Tenant & ({
  /** The hours of the last 48 hours in which the project sent email */
  hours: {
    hour: string;
    mails: number;
    dead: number;
    complaints: number;
  }[];
  /** The last 30 days (UTC) until now. Days without email have zero counts. */
  days: {
    date: string;
    sent: number;
    delivered: number;
    /** First opens by humans */
    opened: number;
    /** First clicks by humans */
    clicked: number;
    bounced: number;
    complained: number;
  }[];
  /** Mailbox providers that recently refused emails of the project because of the sender */
  refusals: {
    provider: string;
    refused: number;
    of: number;
  }[];
  /** Changes of holds and limits, newest first */
  actions: ({
    id: string;
    action: string;
    actor: string;
    /** Email address of the user or operator, or name of the key. Null if the service itself acted, or if the user or key was deleted. */
    actorName: string | null;
    details: Record<string, unknown>;
    createdAt: string;
  })[];
});

/** Hold that a member or a guard of the project has set */
export type TenantHold = {
  held: boolean;
  since: string | null;
  reason: string | null;
};

export type TestCampaign = {
  email: string;
  /** Name of the variant to send */
  variant?: string | null;
};

export type TestTemplate = {
  /** Recipient of the test */
  email: string;
  subject: string;
  /** HTML with Liquid, at most 512 KB */
  body: string;
  preheader?: Preheader;
  /** Address of the sender. Must be on a verified domain. A display name in `from` sets `fromName`, unless the request has `fromName`. */
  from: string | {
    name?: string;
    email: string;
  };
  fromName?: string | null;
  replyTo?: string | null;
};

export type TimelineItem = {
  id: string;
  type: TimelineItemType;
  timestamp: string;
  /** For a subscription change: `actor` (`user:<id>`, `key:<id>`, `job:<id>`, `execution:<id>`, `public` for the public key, `contact` for the person, or the source of a report) and `reason`. For an email: its id, subject, and campaign or workflow. For an email that was not sent, also `reason`. For a step: its status. */
  metadata: Record<string, unknown>;
};

export type TimelineItemType = "event.triggered" | "email.sent" | "email.delivered" | "email.received" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "sms.sent" | "sms.delivered" | "sms.failed" | "sms.received" | "campaign.scheduled" | "campaign.sent" | "workflow.started" | "workflow.completed" | "contact.subscribed" | "contact.unsubscribed" | "contact.unsubscribe_requested" | "apikey.rotated" | "email.failed" | "workflow.step";

export type TopCampaign = {
  id: string;
  name: string;
  subject: string;
  sentCount: number;
  openedCount: number;
  clickedCount: number;
  openRate: number;
  clickRate: number;
};

export type TopEvent = {
  name: string;
  count: number;
  trend: number;
};

export type Topic = {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  defaultSubscribed: boolean;
  createdAt: string;
  updatedAt: string;
};

export type TopicFile = PatchTopic & {
  /** Identifies the resource. It is created if it does not exist. */
  slug: SlugInput;
};

export type TrackEvent = {
  email: string;
  event: string;
  subscribed?: boolean;
  /** Only with a secret key, as in `POST /contacts` */
  resubscribe?: boolean;
  data?: Record<string, unknown> | null;
};

export type TrackedEvent = {
  success: boolean;
  data: {
    /** Id of the contact. With the public key, a value that is always the same for an address, but is not the id of a record. */
    contact: string;
    event: string;
    timestamp: string;
    /** Rules for the public key (`publicKeyMode` of the project). Absent for a secret key. */
    mode?: TrackedEventMode;
  };
};

export type TrackedEventMode = "protected" | "open";

export type UpcomingActivities = {
  activities: UpcomingActivity[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type UpcomingActivity = {
  id: string;
  timestamp: string;
  contactId: string | null;
  contactEmail: string | null;
  metadata: Record<string, unknown>;
  type: UpcomingActivityType;
};

export type UpcomingActivityType = "campaign.scheduled" | "workflow.delay";

export type UpcomingHours = {
  hours: ({
    at: string;
    campaigns: number;
    delays: number;
    /** End of the last of these delays */
    lastDelayAt: string | null;
  })[];
  campaigns: {
    id: string;
    name: string;
    scheduledAt: string;
  }[];
  sendRatePerSecond: number | null;
};

export type Variant = {
  /** Number of the variant, without the prefix `gid://…` */
  variantId: string;
  productTitle: string;
  title: string;
  url: string | null;
  available: boolean;
  createdAt: string;
  updatedAt: string;
};

/** Whether the difference between the best variant and the second best is statistically significant. Only recipients who got a variant before the winner was chosen are compared. */
export type VariantComparison = {
  metric: CampaignTestMetric;
  leader: string | null;
  significant: boolean;
  sentence: string;
} | null;

export type VariantInput = {
  variantId: string | number;
  productTitle: string;
  title: string;
  url?: string | null;
  available: boolean;
};

export type VariantsSaved = {
  data: Variant[];
  created: number;
  updated: number;
  /** Number of variants that are available again. The service now notifies the contacts that wait for them. */
  restocked: number;
};

export type VerifyEmail = {
  email: string;
};

/** Null for an event without a contact */
export type WebhookContact = {
  id: string;
  email: string;
  subscribed: boolean;
  data: WebhookContactData;
} | null;

export type WebhookContactData = Record<string, unknown>;

export type WebhookDelivery = {
  id: string;
  eventId: string;
  event: string;
  status: WebhookDeliveryStatus;
  attempts: number;
  responseStatus: number | null;
  /** The first KB of the last response. If the response contained the credentials of the URL, `***` replaces them. */
  responseBody: string | null;
  latencyMs: number | null;
  error: string | null;
  nextAttemptAt: string | null;
  payload: Record<string, unknown>;
  createdAt: string;
  completedAt: string | null;
};

export type WebhookDeliveryList = {
  data: WebhookDelivery[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};

export type WebhookDeliveryStatus = "PENDING" | "DELIVERED" | "FAILED";

export type WebhookEndpoint = {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  status: WebhookEndpointStatus;
  enabled: boolean;
  disabledReason: string | null;
  failuresInRow: number;
  createdAt: string;
  updatedAt: string;
};

export type WebhookEndpointStatus = "ACTIVE" | "DEGRADED" | "DISABLED";

/** `secret` is returned only once. */
export type WebhookEndpointWithSecret = WebhookEndpoint & {
  secret: string;
};

export type Workflow = {
  id: string;
  name: string;
  /** Identifies the record in files and across projects. Does not change with the name. */
  slug: string;
  description: string | null;
  triggerType: WorkflowTriggerType;
  eventName: string | null;
  triggerConfig: {
    eventName: string | null;
    includeAutomatic: boolean;
  };
  /** Whether automatic emails, such as out-of-office replies, start executions. */
  includeAutomatic: boolean;
  enabled: boolean;
  allowReentry: boolean;
  reentryKey: string | null;
  entryStepId: string | null;
  exitOn: {
    eventName: string;
    filters?: Record<string, unknown>;
    includeAutomatic?: boolean;
  }[];
  exitWhenUnsubscribed: boolean;
  createdAt: string;
  updatedAt: string;
};

export type WorkflowDetail = Workflow & {
  /** Version of the graph, for `PUT /workflows/{id}/graph`. It changes when steps or transitions change. */
  version: string;
  steps: WorkflowStep[];
  transitions: WorkflowTransition[];
};

export type WorkflowFields = {
  fields: {
    field: string;
    type: string;
    category: WorkflowFieldsFieldsCategory;
  }[];
  contactFields: string[];
  eventFields: string[];
  eventNames: string[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type WorkflowFieldsFieldsCategory = "contact" | "event" | "email";

export type WorkflowFile = {
  /** Version of the record that you read. Returns 409 if the record has changed since. Without it, the last write wins. */
  updatedAt?: string;
  name?: string;
  /** Identifies the resource. It is created if it does not exist. */
  slug: SlugInput;
  description?: string | null;
  triggerType?: WorkflowTriggerType;
  eventName?: string | null;
  /** Whether automatic emails (out-of-office replies, list and bulk email) start executions on `email.received`. Defaults to false. */
  includeAutomatic?: boolean;
  enabled?: boolean;
  allowReentry?: boolean;
  /** Path of a value in the event or the context, such as `event.cartId`. A contact can then have one active execution for each value. If `reentryKey` is null, a contact can have only one active execution. */
  reentryKey?: string | null;
  exitOn?: ExitOn;
  exitWhenUnsubscribed?: boolean;
  /** Slug of the first step */
  entry?: string | null;
  steps?: WorkflowStepFile[];
  transitions?: ({
    from: SlugInput;
    to: SlugInput;
    branch?: string | null;
  })[];
};

export type WorkflowGraphStep = {
  /** Id of an existing step of this workflow. Any other text creates a new step, and the response has its id in `ids`. */
  id: string;
  type: StepType;
  name?: string;
  config?: Record<string, unknown>;
  position?: {
    x: number;
    y: number;
  } | null;
};

export type WorkflowGraphTransition = {
  fromStepId: string;
  toStepId: string;
  branch?: string | null;
};

export type WorkflowList = {
  workflows: ListedWorkflow[];
  data: ListedWorkflow[];
  page: number;
  pageSize: number;
  total: number;
  totalPages: number;
  cursor: string | null;
  hasMore: boolean;
};

export type WorkflowPreview = {
  workflowId: string;
  contactId: string | null;
  /** Status of the simulated execution at its end. WAITING means that the last step waits for an event that is not in `events`. */
  status: ExecutionStatus;
  exitReason: string | null;
  error: string | null;
  startedAt: string;
  endedAt: string | null;
  steps: ({
    stepId: string;
    name: string;
    type: StepType;
    status: ExecutionDetailStepsStatus;
    /** When the contact reaches the step. Same value as `startedAt`. */
    at: string;
    startedAt: string;
    completedAt: string | null;
    /** When the pause of the step ends. For a step that sends a message: when the sending window opens. */
    dueAt: string | null;
    branch: string | null;
    /** For a CONDITION: its condition. */
    condition: Record<string, unknown> | null;
    /** For a CONDITION: each filter, and whether it matches. */
    filters: {
      field: string;
      operator: string;
      value?: unknown;
      unit?: string;
      holds: boolean;
    }[] | null;
    /** For a step that sends a message: whether it would be sent. */
    wouldSend: boolean | null;
    /** Why the message would not be sent. */
    reason: string | null;
    channel: string | null;
    to: string | null;
    from: string | null;
    /** Rendered subject, even if the email would not be sent. */
    subject: string | null;
    /** The text of an SMS. */
    body: string | null;
    /** For a WEBHOOK: the request that would be made. */
    request: {
      method: string;
      url: string;
      body?: unknown;
    } | null;
    /** For an UPDATE_CONTACT: the contact after the update. */
    contact: Record<string, unknown> | null;
    output: Record<string, unknown> | null;
    error: string | null;
  })[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};

export type WorkflowStats = {
  since: string | null;
  until: string | null;
  steps: ({
    stepId: string;
    type: StepType;
    name: string;
    waiting: number;
    running: number;
    completed: number;
    failed: number;
    skipped: number;
    /** Number of completed visits by branch. */
    branches: Record<string, number>;
    /** Results of the latest 500 emails of a SEND_EMAIL step. Only opens and clicks by humans count. Null for other steps. */
    emails: {
      sent: number;
      opened: number;
      clicked: number;
    } | null;
  })[];
};

export type WorkflowStep = {
  id: string;
  type: StepType;
  name: string;
  /** Identifies the step in files, within its workflow */
  slug: string;
  config: Record<string, unknown>;
  templateId: string | null;
  position: {
    x: number;
    y: number;
  } | null;
  createdAt: string;
  updatedAt: string;
};

export type WorkflowStepFile = {
  /** Identifies the resource. It is created if it does not exist. */
  slug: SlugInput;
  type: StepType;
  name?: string;
  /** Same as for a step in the API, with `template` (a slug) instead of `templateId`. A header with the value null keeps the stored value. */
  config?: Record<string, unknown>;
  position?: {
    x: number;
    y: number;
  } | null;
};

export type WorkflowTransition = {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: string | null;
};

export type WorkflowTriggerType = "EVENT" | "MANUAL";

/** The input and the response of every operation. */
export interface Operations {
  /** Accept an invitation with a password: `POST /auth/invitations/accept` */
  acceptInvitation: {
    body: AcceptInvitation;
    response: Me;
  };
  /** Add members to a static segment: `POST /v1/segments/{id}/members` */
  addSegmentMembers: {
    params: { id: string };
    body: AddSegmentMembers;
    response: AddedSegmentMembers;
  };
  /** Add a number to the SMS stop list: `POST /v1/sms/stops` */
  addSmsStop: {
    body: AddSmsStop;
    response: SmsStop;
  };
  /** Add an address to the suppression list: `POST /v1/suppressions` */
  addSuppression: {
    body: AddSuppression;
    response: Suppression;
  };
  /** Advance a waiting execution: `POST /v1/workflows/{id}/executions/{executionId}/advance` */
  advanceExecution: {
    params: { id: string; executionId: string };
    body?: AdvanceExecution;
    response: ExecutionDetail;
  };
  /** Apply a document to a project: `POST /project/apply` */
  applyProject: {
    body: ApplyProject;
    response: AppliedProject;
  };
  /** Erase contacts: `POST /v1/contacts/bulk-delete` */
  bulkDeleteContacts: {
    body: BulkContacts;
    response: QueuedJob;
  };
  /** Subscribe contacts: `POST /v1/contacts/bulk-subscribe` */
  bulkSubscribeContacts: {
    body: BulkContacts;
    response: QueuedJob;
  };
  /** Unsubscribe contacts: `POST /v1/contacts/bulk-unsubscribe` */
  bulkUnsubscribeContacts: {
    body: BulkContacts;
    response: QueuedJob;
  };
  /** Cancel all active executions of a workflow: `POST /v1/workflows/{id}/executions/cancel-all` */
  cancelAllExecutions: {
    params: { id: string };
    response: CancelledExecutions;
  };
  /** Cancel a campaign: `POST /v1/campaigns/{id}/cancel` */
  cancelCampaign: {
    params: { id: string };
    response: CampaignDone;
  };
  /** Cancel an import or a bulk job: `POST /v1/contacts/jobs/{jobId}/cancel` */
  cancelContactJob: {
    params: { jobId: string };
    response: ListedContactJob;
  };
  /** Cancel an execution: `DELETE /v1/workflows/{id}/executions/{executionId}` */
  cancelExecution: {
    params: { id: string; executionId: string };
    response: ExecutionDetail;
  };
  /** Change your password: `POST /auth/password` */
  changePassword: {
    body: ChangePassword;
    response: undefined;
  };
  /** Change the role of a member: `PATCH /team/members/{userId}` */
  changeTeamRole: {
    params: { userId: string };
    body: ChangeTeamRole;
    response: TeamMember;
  };
  /** Choose the winning variant: `POST /v1/campaigns/{id}/winner` */
  chooseCampaignWinner: {
    params: { id: string };
    body: ChooseWinner;
    response: CampaignDone;
  };
  /** Update the members of a tracked segment: `POST /v1/segments/{id}/compute` */
  computeSegment: {
    params: { id: string };
    response: ComputedSegment;
  };
  /** Count recent activity: `GET /v1/activity/recent-count` */
  countRecentActivity: {
    query?: { minutes?: number };
    response: RecentActivityCount;
  };
  /** Create a secret key: `POST /apikeys` */
  createApiKey: {
    body: CreateApiKey;
    response: CreatedApiKey;
  };
  /** Create a campaign: `POST /v1/campaigns` */
  createCampaign: {
    body: CreateCampaign;
    response: CampaignDone;
  };
  /** Add a sending domain: `POST /v1/domains` */
  createDomain: {
    body: CreateDomain;
    response: Domain;
  };
  /** Create a segment: `POST /v1/segments` */
  createSegment: {
    body: CreateSegment;
    response: Segment;
  };
  /** Add an SMS sender: `POST /sms/senders` */
  createSmsSender: {
    body: CreateSmsSender;
    response: SmsSender;
  };
  /** Create a template: `POST /v1/templates` */
  createTemplate: {
    body: CreateTemplate;
    response: Template;
  };
  /** Create a topic: `POST /v1/topics` */
  createTopic: {
    body: CreateTopic;
    response: Topic;
  };
  /** Create a webhook endpoint: `POST /v1/webhooks` */
  createWebhook: {
    body: CreateWebhookEndpoint;
    response: WebhookEndpointWithSecret;
  };
  /** Create a workflow: `POST /v1/workflows` */
  createWorkflow: {
    body: CreateWorkflow;
    response: WorkflowDetail;
  };
  /** Add a step: `POST /v1/workflows/{id}/steps` */
  createWorkflowStep: {
    params: { id: string };
    body: CreateWorkflowStep;
    response: WorkflowStep;
  };
  /** Connect two steps: `POST /v1/workflows/{id}/transitions` */
  createWorkflowTransition: {
    params: { id: string };
    body: CreateWorkflowTransition;
    response: WorkflowTransition;
  };
  /** Delete an image: `DELETE /v1/assets/{id}` */
  deleteAsset: {
    params: { id: string };
    query?: { force?: boolean };
    response: undefined;
  };
  /** Delete a campaign: `DELETE /v1/campaigns/{id}` */
  deleteCampaign: {
    params: { id: string };
    response: undefined;
  };
  /** Erase a contact: `DELETE /v1/contacts/{id}` */
  deleteContact: {
    params: { id: string };
    response: undefined;
  };
  /** Delete a custom field from all contacts: `DELETE /v1/contacts/fields/{field}` */
  deleteContactField: {
    params: { field: string };
    response: DeletedContactField;
  };
  /** Remove a domain: `DELETE /v1/domains/{id}` */
  deleteDomain: {
    params: { id: string };
    response: undefined;
  };
  /** Delete all events with a name: `DELETE /v1/events/{eventName}` */
  deleteEvents: {
    params: { eventName: string };
    response: DeletedEvents;
  };
  /** Delete a segment: `DELETE /v1/segments/{id}` */
  deleteSegment: {
    params: { id: string };
    response: undefined;
  };
  /** Remove an SMS sender: `DELETE /sms/senders/{id}` */
  deleteSmsSender: {
    params: { id: string };
    response: undefined;
  };
  /** Remove a number from the SMS stop list: `DELETE /v1/sms/stops/{phone}` */
  deleteSmsStop: {
    params: { phone: string };
    query?: { from?: string };
    response: undefined;
  };
  /** Remove an address from the suppression list: `DELETE /v1/suppressions/{email}` */
  deleteSuppression: {
    params: { email: string };
    response: undefined;
  };
  /** Delete a template: `DELETE /v1/templates/{id}` */
  deleteTemplate: {
    params: { id: string };
    response: undefined;
  };
  /** Delete a topic: `DELETE /v1/topics/{id}` */
  deleteTopic: {
    params: { id: string };
    response: undefined;
  };
  /** Delete a webhook endpoint: `DELETE /v1/webhooks/{id}` */
  deleteWebhook: {
    params: { id: string };
    response: undefined;
  };
  /** Delete a workflow: `DELETE /v1/workflows/{id}` */
  deleteWorkflow: {
    params: { id: string };
    response: undefined;
  };
  /** Remove a step: `DELETE /v1/workflows/{id}/steps/{stepId}` */
  deleteWorkflowStep: {
    params: { id: string; stepId: string };
    query?: { splice?: boolean };
    response: undefined;
  };
  /** Remove a transition: `DELETE /v1/workflows/{id}/transitions/{transitionId}` */
  deleteWorkflowTransition: {
    params: { id: string; transitionId: string };
    response: undefined;
  };
  /** Duplicate a campaign: `POST /v1/campaigns/{id}/duplicate` */
  duplicateCampaign: {
    params: { id: string };
    response: CampaignDone;
  };
  /** Duplicate a template: `POST /v1/templates/{id}/duplicate` */
  duplicateTemplate: {
    params: { id: string };
    response: Template;
  };
  /** Explain why a contact is in a segment: `GET /v1/segments/{id}/explain` */
  explainSegment: {
    params: { id: string };
    query?: { contactId?: string };
    response: SegmentExplanation;
  };
  /** Export all data of a contact: `GET /v1/contacts/{id}/export` */
  exportContact: {
    params: { id: string };
    response: ContactExport;
  };
  /** Export contacts as CSV: `GET /v1/contacts/export` */
  exportContacts: {
    query?: { segmentId?: string; search?: string; condition?: string; subscribed?: boolean; createdAfter?: string; createdBefore?: string; updatedAfter?: string; bom?: boolean };
    response: string;
  };
  /** Export the failed rows of an import as CSV: `GET /v1/contacts/import/{jobId}/errors` */
  exportImportErrors: {
    params: { jobId: string };
    response: string;
  };
  /** Export a project as a document: `GET /project/export` */
  exportProject: {
    response: ExportedProject;
  };
  /** Get activity statistics: `GET /v1/activity/stats` */
  getActivityStats: {
    query?: { startDate?: string; endDate?: string };
    response: ActivityStats;
  };
  /** Get a bulk job: `GET /v1/contacts/bulk/{jobId}` */
  getBulkJob: {
    params: { jobId: string };
    response: BulkJob;
  };
  /** Get a campaign: `GET /v1/campaigns/{id}` */
  getCampaign: {
    params: { id: string };
    response: Campaign;
  };
  /** Get the statistics of a campaign: `GET /v1/campaigns/{id}/stats` */
  getCampaignStats: {
    params: { id: string };
    response: CampaignStats;
  };
  /** Get campaign statistics: `GET /v1/analytics/campaign-stats` */
  getCampaignTotals: {
    query?: { startDate?: string; endDate?: string };
    response: CampaignTotals;
  };
  /** Get the setup checklist: `GET /project/checklist` */
  getChecklist: {
    response: Checklist;
  };
  /** Get a contact: `GET /v1/contacts/{id}` */
  getContact: {
    params: { id: string };
    response: Contact;
  };
  /** List the uses of a custom field: `GET /v1/contacts/fields/{field}/usage` */
  getContactFieldUsage: {
    params: { field: string };
    response: ContactFieldUsage;
  };
  /** Get the subscription of a contact: `GET /v1/contacts/{id}/subscription` */
  getContactSubscription: {
    params: { id: string };
    response: ContactSubscription;
  };
  /** Get an email: `GET /v1/emails/{id}` */
  getEmail: {
    params: { id: string };
    response: {
  data: Email;
};
  };
  /** Download an attachment: `GET /v1/emails/{id}/attachments/{attachmentId}` */
  getEmailAttachment: {
    params: { id: string; attachmentId: string };
    response: string;
  };
  /** Count emails by day: `GET /v1/analytics/timeseries` */
  getEmailTimeseries: {
    query?: { startDate?: string; endDate?: string };
    response: DayCounts[];
  };
  /** Count events by name: `GET /v1/events/stats` */
  getEventStats: {
    query?: { startDate?: string; endDate?: string };
    response: EventStats;
  };
  /** List the uses of an event name: `GET /v1/events/{eventName}/usage` */
  getEventUsage: {
    params: { eventName: string };
    response: EventUsage;
  };
  /** Get an execution with its steps: `GET /v1/workflows/{id}/executions/{executionId}` */
  getExecution: {
    params: { id: string; executionId: string };
    response: ExecutionDetail;
  };
  /** Check the health of the service: `GET /health` */
  getHealth: {
    response: ServiceHealth;
  };
  /** Get an import: `GET /v1/contacts/import/{jobId}` */
  getImportJob: {
    params: { jobId: string };
    response: ImportJob;
  };
  /** Get an invitation: `POST /auth/invitations/look` */
  getInvitation: {
    body: LookAtInvitation;
    response: OpenInvitation;
  };
  /** Check whether this process is alive: `GET /health/live` */
  getLiveness: {
    response: Health;
  };
  /** Get email statistics by day: `GET /v1/analytics/overview` */
  getMailOverview: {
    query?: { startDate?: string; endDate?: string };
    response: MailOverview;
  };
  /** Get the signed-in user: `GET /auth/me` */
  getMe: {
    response: Me;
  };
  /** Get the state of the installation: `GET /operator/health` */
  getOperatorHealth: {
    response: OperatorHealth;
  };
  /** Get the project and its settings: `GET /project` */
  getProject: {
    response: Project;
  };
  /** Check whether Postgres and Temporal respond: `GET /health/ready` */
  getReadiness: {
    response: ReadyHealth;
  };
  /** Get a request and its effects: `GET /v1/requests/{requestId}` */
  getRequest: {
    params: { requestId: string };
    response: LoggedRequestDetail;
  };
  /** Get a segment: `GET /v1/segments/{id}` */
  getSegment: {
    params: { id: string };
    response: Segment;
  };
  /** List the uses of a segment: `GET /v1/segments/{id}/usage` */
  getSegmentUsage: {
    params: { id: string };
    response: SegmentUsage;
  };
  /** Check whether sign-up is open: `GET /auth/signup` */
  getSignUp: {
    response: SignUpState;
  };
  /** Get an SMS: `GET /v1/sms/{id}` */
  getSms: {
    params: { id: string };
    response: {
  data: Sms;
};
  };
  /** List the members of the project: `GET /team` */
  getTeam: {
    response: Team;
  };
  /** Get a template: `GET /v1/templates/{id}` */
  getTemplate: {
    params: { id: string };
    response: Template;
  };
  /** List the uses of a template: `GET /v1/templates/{id}/usage` */
  getTemplateUsage: {
    params: { id: string };
    response: TemplateUsage;
  };
  /** Get a project of the installation: `GET /operator/projects/{id}` */
  getTenant: {
    params: { id: string };
    response: TenantDetail;
  };
  /** Get a topic: `GET /v1/topics/{id}` */
  getTopic: {
    params: { id: string };
    response: Topic;
  };
  /** Get a webhook endpoint: `GET /v1/webhooks/{id}` */
  getWebhook: {
    params: { id: string };
    response: WebhookEndpoint;
  };
  /** Get a workflow with its steps and transitions: `GET /v1/workflows/{id}` */
  getWorkflow: {
    params: { id: string };
    response: WorkflowDetail;
  };
  /** Count the visits to each step of a workflow: `GET /v1/workflows/{id}/stats` */
  getWorkflowStats: {
    params: { id: string };
    query?: { since?: string; until?: string };
    response: WorkflowStats;
  };
  /** Put the project on hold: `POST /project/hold` */
  holdProject: {
    body?: HoldProject;
    response: Project;
  };
  /** Put a project on hold: `POST /operator/projects/{id}/hold` */
  holdTenant: {
    params: { id: string };
    body: HoldTenant;
    response: Tenant;
  };
  /** Import contacts from a CSV file: `POST /v1/contacts/import` */
  importContacts: {
    query?: { types?: ImportPreviewColumnsType; triggerWorkflows?: boolean };
    body: FormData;
    response: QueuedJob;
  };
  /** Invite a person to the project: `POST /team/invitations` */
  inviteToTeam: {
    body: InviteToTeam;
    response: InvitedToTeam;
  };
  /** Accept an invitation as the signed-in user: `POST /auth/invitations/join` */
  joinByInvitation: {
    body: JoinByInvitation;
    response: Me;
  };
  /** Set the operator limits of a project: `PATCH /operator/projects/{id}` */
  limitTenant: {
    params: { id: string };
    body: LimitTenant;
    response: Tenant;
  };
  /** List recent activity: `GET /v1/activity` */
  listActivity: {
    query?: { limit?: number; cursor?: string; types?: string; contactId?: string; startDate?: string; endDate?: string };
    response: ActivityList;
  };
  /** List activity types: `GET /v1/activity/types` */
  listActivityTypes: {
    response: ActivityTypes;
  };
  /** List the secret keys: `GET /apikeys` */
  listApiKeys: {
    response: {
  data: ApiKey[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};
  };
  /** List images: `GET /v1/assets` */
  listAssets: {
    query?: { limit?: number; cursor?: string; used?: boolean };
    response: AssetList;
  };
  /** List problems that need attention: `GET /v1/analytics/attention` */
  listAttention: {
    response: {
  data: AttentionItem[];
};
  };
  /** List the audit log: `GET /audit-log` */
  listAuditLog: {
    query?: { limit?: number; cursor?: string };
    response: {
  data: AuditEntry[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** Count the clicks of a campaign by link: `GET /v1/campaigns/{id}/links` */
  listCampaignLinks: {
    params: { id: string };
    response: {
  data: CampaignLink[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};
  };
  /** List the recipients of a campaign: `GET /v1/campaigns/{id}/recipients` */
  listCampaignRecipients: {
    params: { id: string };
    query?: { limit?: number; cursor?: string; status?: string; reason?: string; outcome?: "pending" | "sent" | "failed" | "skipped" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | "unsubscribed"; format?: "json" | "csv"; search?: string };
    response: {
  data: CampaignRecipient[];
  cursor: string | null;
  hasMore: boolean;
  total: number | null;
};
  };
  /** List campaigns: `GET /v1/campaigns` */
  listCampaigns: {
    query?: { page?: number; pageSize?: number; limit?: number; cursor?: string; status?: CampaignStatus; search?: string };
    response: CampaignList;
  };
  /** List a contact's events: `GET /v1/events/contact/{contactId}` */
  listContactEvents: {
    params: { contactId: string };
    query?: { limit?: number; cursor?: string };
    response: EventList;
  };
  /** List the executions of a contact: `GET /v1/contacts/{id}/executions` */
  listContactExecutions: {
    params: { id: string };
    query?: { limit?: number; cursor?: string; active?: boolean };
    response: {
  data: ContactExecution[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List the distinct values of a custom field: `GET /v1/contacts/fields/{field}/values` */
  listContactFieldValues: {
    params: { field: string };
    query?: { limit?: number };
    response: ContactFieldValues;
  };
  /** List standard and custom fields: `GET /v1/contacts/fields` */
  listContactFields: {
    response: ContactFields;
  };
  /** List imports and bulk jobs: `GET /v1/contacts/jobs` */
  listContactJobs: {
    query?: { limit?: number; cursor?: string; active?: boolean };
    response: {
  data: ListedContactJob[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List the segments of a contact: `GET /v1/contacts/{id}/segments` */
  listContactSegments: {
    params: { id: string };
    response: ContactSegments;
  };
  /** List the timeline of a contact: `GET /v1/contacts/{id}/timeline` */
  listContactTimeline: {
    params: { id: string };
    query?: { limit?: number; cursor?: string };
    response: {
  data: TimelineItem[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List contacts: `GET /v1/contacts` */
  listContacts: {
    query?: { limit?: number; cursor?: string; search?: string; condition?: string; subscribed?: boolean; createdAfter?: string; createdBefore?: string; updatedAfter?: string; sort?: "-createdAt" | "createdAt" | "email" | "-email"; count?: boolean };
    response: {
  data: Contact[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List contacts at a step: `GET /v1/workflows/{id}/steps/{stepId}/contacts` */
  listContactsAtStep: {
    params: { id: string; stepId: string };
    query?: { limit?: number; cursor?: string };
    response: {
  data: ContactAtStep[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List the project's domains: `GET /v1/domains/project/{projectId}` */
  listDomains: {
    params: { projectId: string };
    response: Domain[];
  };
  /** List emails: `GET /v1/emails` */
  listEmails: {
    query?: { limit?: number; cursor?: string; mode?: "live" | "test" | "all"; status?: EmailItemStatus; sourceType?: EmailItemSourceType; reason?: "unsubscribed" | "unsubscribed:topic" | "unconfirmed" | "frequency_capped" | "cancelled" | "left_audience" | "sender_not_verified" | "template_error" | "provider_rejected" | "expired" | "step_deleted" | "contact_deleted" | "limit_reached" | "no_phone" | "sms_stopped" | "not_mobile" | "invalid_number" | "exited_on_event" | "too_late" | "suppressed:hard_bounce" | "suppressed:complaint" | "suppressed:unsubscribe" | "suppressed:manual" | "bounced:dead_mailbox" | "bounced:mailbox_for_now" | "bounced:policy" | "bounced:message" | "bounced:routing" | "bounced:unknown"; happened?: "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained"; contactId?: string; workflowExecutionId?: string; campaignId?: string; templateId?: string; to?: string; since?: string; until?: string };
    response: {
  data: EmailItem[];
  nextCursor: string | null;
};
  };
  /** List the names of events: `GET /v1/events/names` */
  listEventNames: {
    response: EventNames;
  };
  /** List recent events: `GET /v1/events` */
  listEvents: {
    query?: { limit?: number; cursor?: string; eventName?: string };
    response: EventList;
  };
  /** List the executions of a workflow: `GET /v1/workflows/{id}/executions` */
  listExecutions: {
    params: { id: string };
    query?: { limit?: number; cursor?: string; status?: ExecutionStatus; contactId?: string; sandbox?: boolean };
    response: {
  data: Execution[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List replies of mail servers: `GET /operator/provider-answers` */
  listProviderAnswers: {
    query?: { hours?: number };
    response: ProviderAnswers;
  };
  /** List API requests: `GET /v1/requests` */
  listRequests: {
    query?: { limit?: number; cursor?: string; method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"; route?: string; status?: string; errorCode?: string; keyId?: string; requestId?: string; made?: string; since?: string; until?: string };
    response: LoggedRequestList;
  };
  /** List paused routes: `GET /operator/route-pauses` */
  listRoutePauses: {
    response: RoutePauses;
  };
  /** List the contacts of a segment: `GET /v1/segments/{id}/contacts` */
  listSegmentContacts: {
    params: { id: string };
    query?: { page?: number; pageSize?: number };
    response: SegmentContacts;
  };
  /** List who entered and left a segment: `GET /v1/segments/{id}/history` */
  listSegmentHistory: {
    params: { id: string };
    query?: { limit?: number; cursor?: string };
    response: {
  data: SegmentChange[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List the segments: `GET /v1/segments` */
  listSegments: {
    query?: { search?: string };
    response: ListedSegment[];
  };
  /** List SMS: `GET /v1/sms` */
  listSms: {
    query?: { limit?: number; cursor?: string; status?: AcceptedSmsStatus; sourceType?: SmsItemSourceType; contactId?: string; workflowExecutionId?: string; to?: string; since?: string; until?: string };
    response: {
  data: SmsItem[];
  nextCursor: string | null;
};
  };
  /** List the SMS senders: `GET /sms/senders` */
  listSmsSenders: {
    response: {
  data: SmsSender[];
};
  };
  /** List the SMS stop list: `GET /v1/sms/stops` */
  listSmsStops: {
    query?: { limit?: number; cursor?: string; phone?: string };
    response: {
  data: SmsStop[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List contacts that have left a step, by outcome: `GET /v1/workflows/{id}/steps/{stepId}/visits` */
  listStepVisits: {
    params: { id: string; stepId: string };
    query?: { limit?: number; cursor?: string; status?: StepVisitStatus; branch?: string };
    response: StepVisitList;
  };
  /** List the suppression list: `GET /v1/suppressions` */
  listSuppressions: {
    query?: { limit?: number; cursor?: string; email?: string };
    response: {
  data: Suppression[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List templates: `GET /v1/templates` */
  listTemplates: {
    query?: { page?: number; pageSize?: number; limit?: number; cursor?: string; type?: TemplateType; search?: string };
    response: TemplateList;
  };
  /** List all projects of the installation: `GET /operator/projects` */
  listTenants: {
    query?: { limit?: number; cursor?: string; search?: string; held?: boolean; order?: "newest" | "mails" | "bounces" | "complaints"; over?: "day" | "month" };
    response: {
  data: Tenant[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List the most opened campaigns: `GET /v1/analytics/top-campaigns` */
  listTopCampaigns: {
    query?: { startDate?: string; endDate?: string; limit?: number };
    response: TopCampaign[];
  };
  /** List the most frequent events: `GET /v1/analytics/top-events` */
  listTopEvents: {
    query?: { startDate?: string; endDate?: string; limit?: number };
    response: TopEvent[];
  };
  /** List topics: `GET /v1/topics` */
  listTopics: {
    query?: { limit?: number; cursor?: string };
    response: {
  data: Topic[];
  cursor: string | null;
  hasMore: boolean;
  total: number;
};
  };
  /** List upcoming activity: `GET /v1/activity/upcoming` */
  listUpcomingActivity: {
    query?: { limit?: number; daysAhead?: number };
    response: UpcomingActivities;
  };
  /** List upcoming activity by hour: `GET /v1/analytics/upcoming` */
  listUpcomingHours: {
    query?: { hours?: number };
    response: UpcomingHours;
  };
  /** List the deliveries to a webhook endpoint: `GET /v1/webhooks/{id}/deliveries` */
  listWebhookDeliveries: {
    params: { id: string };
    query?: { limit?: number; cursor?: string; status?: WebhookDeliveryStatus };
    response: WebhookDeliveryList;
  };
  /** List the webhook endpoints: `GET /v1/webhooks` */
  listWebhooks: {
    response: {
  data: WebhookEndpoint[];
  /** A list is incomplete, because a response is at most 4 MB. */
  truncated?: boolean;
};
  };
  /** List the fields for CONDITION steps: `GET /v1/workflows/fields` */
  listWorkflowFields: {
    response: WorkflowFields;
  };
  /** List the workflows: `GET /v1/workflows` */
  listWorkflows: {
    query?: { page?: number; pageSize?: number; limit?: number; cursor?: string; search?: string };
    response: WorkflowList;
  };
  /** Sign in: `POST /auth/login` */
  logIn: {
    body: Login;
    response: Me;
  };
  /** Sign out: `POST /auth/logout` */
  logOut: {
    response: undefined;
  };
  /** Check which addresses are contacts: `POST /v1/contacts/lookup` */
  lookupContacts: {
    body: ContactLookup;
    response: ContactLookupResult;
  };
  /** Pause a campaign: `POST /v1/campaigns/{id}/pause` */
  pauseCampaign: {
    params: { id: string };
    response: CampaignDone;
  };
  /** Preview an import: `POST /v1/contacts/import/preview` */
  previewImport: {
    query?: { types?: ImportPreviewColumnsType; triggerWorkflows?: boolean };
    body: FormData;
    response: ImportPreview;
  };
  /** Count the contacts that match a condition: `POST /v1/segments/preview` */
  previewSegment: {
    body: PreviewCondition;
    response: SegmentPreview;
  };
  /** Preview a template: `POST /v1/templates/preview` */
  previewTemplate: {
    body: PreviewTemplate;
    response: TemplatePreview;
  };
  /** Preview a workflow for a contact: `POST /v1/workflows/{id}/preview` */
  previewWorkflow: {
    params: { id: string };
    body: PreviewWorkflow;
    response: WorkflowPreview;
  };
  /** Create or replace product variants: `PUT /storefront/variants` */
  putVariants: {
    body: PutVariants;
    response: VariantsSaved;
  };
  /** Receive notifications from Amazon SES: `POST /webhooks/sns` */
  receiveSnsMessage: {
    response: undefined;
  };
  /** Receive an SMS from Twilio: `POST /webhooks/twilio/inbound` */
  receiveTwilioMessage: {
    response: string;
  };
  /** Receive the status of an SMS from Twilio: `POST /webhooks/twilio/status` */
  receiveTwilioStatus: {
    query?: { id?: string };
    response: undefined;
  };
  /** Record an event by contact or email id: `POST /v1/events/track` */
  recordEvent: {
    body: RecordEvent;
    response: Event;
  };
  /** Record storefront events: `POST /v1/pixel` */
  recordPixel: {
    body: Pixel;
    response: PixelAccepted;
  };
  /** Recount a segment: `POST /v1/segments/{id}/refresh` */
  refreshSegment: {
    params: { id: string };
    response: RefreshedSegment;
  };
  /** Release the project: `POST /project/release` */
  releaseProject: {
    response: Project;
  };
  /** Release a project: `POST /operator/projects/{id}/release` */
  releaseTenant: {
    params: { id: string };
    body: ReleaseTenant;
    response: Tenant;
  };
  /** Remove a member from the project, or leave the project: `DELETE /team/members/{userId}` */
  removeFromTeam: {
    params: { userId: string };
    response: undefined;
  };
  /** Remove members from a static segment: `DELETE /v1/segments/{id}/members` */
  removeSegmentMembers: {
    params: { id: string };
    body: RemoveSegmentMembers;
    response: RemovedSegmentMembers;
  };
  /** Replay deliveries: `POST /v1/webhooks/{id}/replay` */
  replayWebhookDeliveries: {
    params: { id: string };
    body: ReplayWebhooks;
    response: ReplayedDeliveries;
  };
  /** Replay a delivery: `POST /v1/webhooks/{id}/deliveries/{deliveryId}/replay` */
  replayWebhookDelivery: {
    params: { id: string; deliveryId: string };
    response: ReplayedDeliveries;
  };
  /** Resend an email: `POST /v1/emails/{id}/resend` */
  resendEmail: {
    params: { id: string };
    response: Sent;
  };
  /** Resume a campaign: `POST /v1/campaigns/{id}/resume` */
  resumeCampaign: {
    params: { id: string };
    response: CampaignDone;
  };
  /** End the pause of a route: `POST /operator/route-pauses/{id}/resume` */
  resumeRoute: {
    params: { id: string };
    response: RoutePauses;
  };
  /** Start sending from a cloned installation: `POST /operator/sending/resume` */
  resumeSending: {
    response: Sending;
  };
  /** Retry failed recipients of a campaign: `POST /v1/campaigns/{id}/retry` */
  retryCampaign: {
    params: { id: string };
    body?: RetryCampaign;
    response: CampaignRequeued;
  };
  /** Retry a failed execution: `POST /v1/workflows/{id}/executions/{executionId}/retry` */
  retryExecution: {
    params: { id: string; executionId: string };
    response: ExecutionDetail;
  };
  /** Review a campaign before sending: `GET /v1/campaigns/{id}/review` */
  reviewCampaign: {
    params: { id: string };
    response: CampaignReview;
  };
  /** Revoke a secret key: `POST /apikeys/{id}/revoke` */
  revokeApiKey: {
    params: { id: string };
    response: ApiKey;
  };
  /** Replace the public key: `POST /apikeys/public/rotate` */
  rotatePublicKey: {
    response: Project;
  };
  /** Rotate the secret of a webhook endpoint: `POST /v1/webhooks/{id}/rotate-secret` */
  rotateWebhookSecret: {
    params: { id: string };
    response: WebhookEndpointWithSecret;
  };
  /** Create or update a contact by address: `POST /v1/contacts` */
  saveContact: {
    body: SaveContact;
    response: SavedContact;
  };
  /** Save all steps and transitions of a workflow: `PUT /v1/workflows/{id}/graph` */
  saveWorkflowGraph: {
    params: { id: string };
    body: SaveWorkflowGraph;
    response: SavedWorkflowGraph;
  };
  /** Send or schedule a campaign: `POST /v1/campaigns/{id}/send` */
  sendCampaign: {
    params: { id: string };
    body?: SendCampaign;
    response: CampaignDone;
  };
  /** Send an email: `POST /v1/send` */
  sendEmail: {
    body: SendEmail;
    response: Sent;
  };
  /** Send up to 100 different emails: `POST /v1/send/batch` */
  sendEmailBatch: {
    body: SendEmailBatch;
    response: BatchSent;
  };
  /** Send an SMS: `POST /v1/sms/send` */
  sendSms: {
    body: SendSms;
    response: AcceptedSms;
  };
  /** Sign up: `POST /auth/signup` */
  signUp: {
    body: Signup;
    response: Me;
  };
  /** Start a workflow for a contact: `POST /v1/workflows/{id}/executions` */
  startExecution: {
    params: { id: string };
    body: StartExecution;
    response: ExecutionDetail;
  };
  /** Switch the session's project: `POST /auth/project` */
  switchProject: {
    body: SwitchProject;
    response: Me;
  };
  /** Send a test email of a campaign: `POST /v1/campaigns/{id}/test` */
  testCampaign: {
    params: { id: string };
    body: TestCampaign;
    response: CampaignTestSent;
  };
  /** Send a test email of a template: `POST /v1/templates/test` */
  testTemplate: {
    body: TestTemplate;
    response: TemplateTestSent;
  };
  /** Record an event of a contact: `POST /v1/track` */
  trackEvent: {
    body: TrackEvent;
    response: TrackedEvent;
  };
  /** Update a campaign: `PUT /v1/campaigns/{id}` */
  updateCampaign: {
    params: { id: string };
    body: PutCampaign;
    response: Campaign;
  };
  /** Update a contact: `PATCH /v1/contacts/{id}` */
  updateContact: {
    params: { id: string };
    body: PatchContact;
    response: PatchedContact;
  };
  /** Turn DKIM signing of a domain on or off: `PATCH /v1/domains/{id}` */
  updateDomain: {
    params: { id: string };
    body: PatchDomain;
    response: Domain;
  };
  /** Update the project: `PATCH /project` */
  updateProject: {
    body: PatchProject;
    response: Project;
  };
  /** Update a segment: `PATCH /v1/segments/{id}` */
  updateSegment: {
    params: { id: string };
    body: PatchSegment;
    response: Segment;
  };
  /** Update a template: `PATCH /v1/templates/{id}` */
  updateTemplate: {
    params: { id: string };
    body: PatchTemplate;
    response: Template;
  };
  /** Update a topic: `PATCH /v1/topics/{id}` */
  updateTopic: {
    params: { id: string };
    body: PatchTopic;
    response: Topic;
  };
  /** Update a webhook endpoint: `PATCH /v1/webhooks/{id}` */
  updateWebhook: {
    params: { id: string };
    body: PatchWebhookEndpoint;
    response: WebhookEndpoint;
  };
  /** Update a workflow: `PATCH /v1/workflows/{id}` */
  updateWorkflow: {
    params: { id: string };
    body: PatchWorkflow;
    response: WorkflowDetail;
  };
  /** Update a step: `PATCH /v1/workflows/{id}/steps/{stepId}` */
  updateWorkflowStep: {
    params: { id: string; stepId: string };
    body: PatchWorkflowStep;
    response: WorkflowStep;
  };
  /** Upload an image for emails: `POST /v1/assets` */
  uploadAsset: {
    body: FormData;
    response: Asset;
  };
  /** Check the DNS records of a domain: `GET /v1/domains/{id}/verify` */
  verifyDomain: {
    params: { id: string };
    response: Domain;
  };
  /** Verify an email address: `POST /v1/verify` */
  verifyEmail: {
    body: VerifyEmail;
    response: EmailVerification;
  };
  /** Request a back-in-stock notification: `POST /v1/back-in-stock` */
  waitForVariant: {
    body: BackInStock;
    response: BackInStockAccepted;
  };
  /** Withdraw an invitation: `DELETE /team/invitations/{id}` */
  withdrawInvitation: {
    params: { id: string };
    response: undefined;
  };
}

/** Method and path of every operation. */
export const OPERATIONS = {
  acceptInvitation: { method: 'POST', path: '/auth/invitations/accept', idempotencyKey: false },
  addSegmentMembers: { method: 'POST', path: '/v1/segments/{id}/members', idempotencyKey: true },
  addSmsStop: { method: 'POST', path: '/v1/sms/stops', idempotencyKey: true },
  addSuppression: { method: 'POST', path: '/v1/suppressions', idempotencyKey: true },
  advanceExecution: { method: 'POST', path: '/v1/workflows/{id}/executions/{executionId}/advance', idempotencyKey: true },
  applyProject: { method: 'POST', path: '/project/apply', idempotencyKey: true },
  bulkDeleteContacts: { method: 'POST', path: '/v1/contacts/bulk-delete', idempotencyKey: true },
  bulkSubscribeContacts: { method: 'POST', path: '/v1/contacts/bulk-subscribe', idempotencyKey: true },
  bulkUnsubscribeContacts: { method: 'POST', path: '/v1/contacts/bulk-unsubscribe', idempotencyKey: true },
  cancelAllExecutions: { method: 'POST', path: '/v1/workflows/{id}/executions/cancel-all', idempotencyKey: true },
  cancelCampaign: { method: 'POST', path: '/v1/campaigns/{id}/cancel', idempotencyKey: true },
  cancelContactJob: { method: 'POST', path: '/v1/contacts/jobs/{jobId}/cancel', idempotencyKey: true },
  cancelExecution: { method: 'DELETE', path: '/v1/workflows/{id}/executions/{executionId}', idempotencyKey: false },
  changePassword: { method: 'POST', path: '/auth/password', idempotencyKey: false },
  changeTeamRole: { method: 'PATCH', path: '/team/members/{userId}', idempotencyKey: false },
  chooseCampaignWinner: { method: 'POST', path: '/v1/campaigns/{id}/winner', idempotencyKey: true },
  computeSegment: { method: 'POST', path: '/v1/segments/{id}/compute', idempotencyKey: true },
  countRecentActivity: { method: 'GET', path: '/v1/activity/recent-count', idempotencyKey: false },
  createApiKey: { method: 'POST', path: '/apikeys', idempotencyKey: true },
  createCampaign: { method: 'POST', path: '/v1/campaigns', idempotencyKey: true },
  createDomain: { method: 'POST', path: '/v1/domains', idempotencyKey: true },
  createSegment: { method: 'POST', path: '/v1/segments', idempotencyKey: true },
  createSmsSender: { method: 'POST', path: '/sms/senders', idempotencyKey: true },
  createTemplate: { method: 'POST', path: '/v1/templates', idempotencyKey: true },
  createTopic: { method: 'POST', path: '/v1/topics', idempotencyKey: true },
  createWebhook: { method: 'POST', path: '/v1/webhooks', idempotencyKey: true },
  createWorkflow: { method: 'POST', path: '/v1/workflows', idempotencyKey: true },
  createWorkflowStep: { method: 'POST', path: '/v1/workflows/{id}/steps', idempotencyKey: true },
  createWorkflowTransition: { method: 'POST', path: '/v1/workflows/{id}/transitions', idempotencyKey: true },
  deleteAsset: { method: 'DELETE', path: '/v1/assets/{id}', idempotencyKey: false },
  deleteCampaign: { method: 'DELETE', path: '/v1/campaigns/{id}', idempotencyKey: false },
  deleteContact: { method: 'DELETE', path: '/v1/contacts/{id}', idempotencyKey: false },
  deleteContactField: { method: 'DELETE', path: '/v1/contacts/fields/{field}', idempotencyKey: false },
  deleteDomain: { method: 'DELETE', path: '/v1/domains/{id}', idempotencyKey: false },
  deleteEvents: { method: 'DELETE', path: '/v1/events/{eventName}', idempotencyKey: false },
  deleteSegment: { method: 'DELETE', path: '/v1/segments/{id}', idempotencyKey: false },
  deleteSmsSender: { method: 'DELETE', path: '/sms/senders/{id}', idempotencyKey: false },
  deleteSmsStop: { method: 'DELETE', path: '/v1/sms/stops/{phone}', idempotencyKey: false },
  deleteSuppression: { method: 'DELETE', path: '/v1/suppressions/{email}', idempotencyKey: false },
  deleteTemplate: { method: 'DELETE', path: '/v1/templates/{id}', idempotencyKey: false },
  deleteTopic: { method: 'DELETE', path: '/v1/topics/{id}', idempotencyKey: false },
  deleteWebhook: { method: 'DELETE', path: '/v1/webhooks/{id}', idempotencyKey: false },
  deleteWorkflow: { method: 'DELETE', path: '/v1/workflows/{id}', idempotencyKey: false },
  deleteWorkflowStep: { method: 'DELETE', path: '/v1/workflows/{id}/steps/{stepId}', idempotencyKey: false },
  deleteWorkflowTransition: { method: 'DELETE', path: '/v1/workflows/{id}/transitions/{transitionId}', idempotencyKey: false },
  duplicateCampaign: { method: 'POST', path: '/v1/campaigns/{id}/duplicate', idempotencyKey: true },
  duplicateTemplate: { method: 'POST', path: '/v1/templates/{id}/duplicate', idempotencyKey: true },
  explainSegment: { method: 'GET', path: '/v1/segments/{id}/explain', idempotencyKey: false },
  exportContact: { method: 'GET', path: '/v1/contacts/{id}/export', idempotencyKey: false },
  exportContacts: { method: 'GET', path: '/v1/contacts/export', idempotencyKey: false },
  exportImportErrors: { method: 'GET', path: '/v1/contacts/import/{jobId}/errors', idempotencyKey: false },
  exportProject: { method: 'GET', path: '/project/export', idempotencyKey: false },
  getActivityStats: { method: 'GET', path: '/v1/activity/stats', idempotencyKey: false },
  getBulkJob: { method: 'GET', path: '/v1/contacts/bulk/{jobId}', idempotencyKey: false },
  getCampaign: { method: 'GET', path: '/v1/campaigns/{id}', idempotencyKey: false },
  getCampaignStats: { method: 'GET', path: '/v1/campaigns/{id}/stats', idempotencyKey: false },
  getCampaignTotals: { method: 'GET', path: '/v1/analytics/campaign-stats', idempotencyKey: false },
  getChecklist: { method: 'GET', path: '/project/checklist', idempotencyKey: false },
  getContact: { method: 'GET', path: '/v1/contacts/{id}', idempotencyKey: false },
  getContactFieldUsage: { method: 'GET', path: '/v1/contacts/fields/{field}/usage', idempotencyKey: false },
  getContactSubscription: { method: 'GET', path: '/v1/contacts/{id}/subscription', idempotencyKey: false },
  getEmail: { method: 'GET', path: '/v1/emails/{id}', idempotencyKey: false },
  getEmailAttachment: { method: 'GET', path: '/v1/emails/{id}/attachments/{attachmentId}', idempotencyKey: false },
  getEmailTimeseries: { method: 'GET', path: '/v1/analytics/timeseries', idempotencyKey: false },
  getEventStats: { method: 'GET', path: '/v1/events/stats', idempotencyKey: false },
  getEventUsage: { method: 'GET', path: '/v1/events/{eventName}/usage', idempotencyKey: false },
  getExecution: { method: 'GET', path: '/v1/workflows/{id}/executions/{executionId}', idempotencyKey: false },
  getHealth: { method: 'GET', path: '/health', idempotencyKey: false },
  getImportJob: { method: 'GET', path: '/v1/contacts/import/{jobId}', idempotencyKey: false },
  getInvitation: { method: 'POST', path: '/auth/invitations/look', idempotencyKey: false },
  getLiveness: { method: 'GET', path: '/health/live', idempotencyKey: false },
  getMailOverview: { method: 'GET', path: '/v1/analytics/overview', idempotencyKey: false },
  getMe: { method: 'GET', path: '/auth/me', idempotencyKey: false },
  getOperatorHealth: { method: 'GET', path: '/operator/health', idempotencyKey: false },
  getProject: { method: 'GET', path: '/project', idempotencyKey: false },
  getReadiness: { method: 'GET', path: '/health/ready', idempotencyKey: false },
  getRequest: { method: 'GET', path: '/v1/requests/{requestId}', idempotencyKey: false },
  getSegment: { method: 'GET', path: '/v1/segments/{id}', idempotencyKey: false },
  getSegmentUsage: { method: 'GET', path: '/v1/segments/{id}/usage', idempotencyKey: false },
  getSignUp: { method: 'GET', path: '/auth/signup', idempotencyKey: false },
  getSms: { method: 'GET', path: '/v1/sms/{id}', idempotencyKey: false },
  getTeam: { method: 'GET', path: '/team', idempotencyKey: false },
  getTemplate: { method: 'GET', path: '/v1/templates/{id}', idempotencyKey: false },
  getTemplateUsage: { method: 'GET', path: '/v1/templates/{id}/usage', idempotencyKey: false },
  getTenant: { method: 'GET', path: '/operator/projects/{id}', idempotencyKey: false },
  getTopic: { method: 'GET', path: '/v1/topics/{id}', idempotencyKey: false },
  getWebhook: { method: 'GET', path: '/v1/webhooks/{id}', idempotencyKey: false },
  getWorkflow: { method: 'GET', path: '/v1/workflows/{id}', idempotencyKey: false },
  getWorkflowStats: { method: 'GET', path: '/v1/workflows/{id}/stats', idempotencyKey: false },
  holdProject: { method: 'POST', path: '/project/hold', idempotencyKey: true },
  holdTenant: { method: 'POST', path: '/operator/projects/{id}/hold', idempotencyKey: false },
  importContacts: { method: 'POST', path: '/v1/contacts/import', idempotencyKey: true },
  inviteToTeam: { method: 'POST', path: '/team/invitations', idempotencyKey: true },
  joinByInvitation: { method: 'POST', path: '/auth/invitations/join', idempotencyKey: false },
  limitTenant: { method: 'PATCH', path: '/operator/projects/{id}', idempotencyKey: false },
  listActivity: { method: 'GET', path: '/v1/activity', idempotencyKey: false },
  listActivityTypes: { method: 'GET', path: '/v1/activity/types', idempotencyKey: false },
  listApiKeys: { method: 'GET', path: '/apikeys', idempotencyKey: false },
  listAssets: { method: 'GET', path: '/v1/assets', idempotencyKey: false },
  listAttention: { method: 'GET', path: '/v1/analytics/attention', idempotencyKey: false },
  listAuditLog: { method: 'GET', path: '/audit-log', idempotencyKey: false },
  listCampaignLinks: { method: 'GET', path: '/v1/campaigns/{id}/links', idempotencyKey: false },
  listCampaignRecipients: { method: 'GET', path: '/v1/campaigns/{id}/recipients', idempotencyKey: false },
  listCampaigns: { method: 'GET', path: '/v1/campaigns', idempotencyKey: false },
  listContactEvents: { method: 'GET', path: '/v1/events/contact/{contactId}', idempotencyKey: false },
  listContactExecutions: { method: 'GET', path: '/v1/contacts/{id}/executions', idempotencyKey: false },
  listContactFieldValues: { method: 'GET', path: '/v1/contacts/fields/{field}/values', idempotencyKey: false },
  listContactFields: { method: 'GET', path: '/v1/contacts/fields', idempotencyKey: false },
  listContactJobs: { method: 'GET', path: '/v1/contacts/jobs', idempotencyKey: false },
  listContactSegments: { method: 'GET', path: '/v1/contacts/{id}/segments', idempotencyKey: false },
  listContactTimeline: { method: 'GET', path: '/v1/contacts/{id}/timeline', idempotencyKey: false },
  listContacts: { method: 'GET', path: '/v1/contacts', idempotencyKey: false },
  listContactsAtStep: { method: 'GET', path: '/v1/workflows/{id}/steps/{stepId}/contacts', idempotencyKey: false },
  listDomains: { method: 'GET', path: '/v1/domains/project/{projectId}', idempotencyKey: false },
  listEmails: { method: 'GET', path: '/v1/emails', idempotencyKey: false },
  listEventNames: { method: 'GET', path: '/v1/events/names', idempotencyKey: false },
  listEvents: { method: 'GET', path: '/v1/events', idempotencyKey: false },
  listExecutions: { method: 'GET', path: '/v1/workflows/{id}/executions', idempotencyKey: false },
  listProviderAnswers: { method: 'GET', path: '/operator/provider-answers', idempotencyKey: false },
  listRequests: { method: 'GET', path: '/v1/requests', idempotencyKey: false },
  listRoutePauses: { method: 'GET', path: '/operator/route-pauses', idempotencyKey: false },
  listSegmentContacts: { method: 'GET', path: '/v1/segments/{id}/contacts', idempotencyKey: false },
  listSegmentHistory: { method: 'GET', path: '/v1/segments/{id}/history', idempotencyKey: false },
  listSegments: { method: 'GET', path: '/v1/segments', idempotencyKey: false },
  listSms: { method: 'GET', path: '/v1/sms', idempotencyKey: false },
  listSmsSenders: { method: 'GET', path: '/sms/senders', idempotencyKey: false },
  listSmsStops: { method: 'GET', path: '/v1/sms/stops', idempotencyKey: false },
  listStepVisits: { method: 'GET', path: '/v1/workflows/{id}/steps/{stepId}/visits', idempotencyKey: false },
  listSuppressions: { method: 'GET', path: '/v1/suppressions', idempotencyKey: false },
  listTemplates: { method: 'GET', path: '/v1/templates', idempotencyKey: false },
  listTenants: { method: 'GET', path: '/operator/projects', idempotencyKey: false },
  listTopCampaigns: { method: 'GET', path: '/v1/analytics/top-campaigns', idempotencyKey: false },
  listTopEvents: { method: 'GET', path: '/v1/analytics/top-events', idempotencyKey: false },
  listTopics: { method: 'GET', path: '/v1/topics', idempotencyKey: false },
  listUpcomingActivity: { method: 'GET', path: '/v1/activity/upcoming', idempotencyKey: false },
  listUpcomingHours: { method: 'GET', path: '/v1/analytics/upcoming', idempotencyKey: false },
  listWebhookDeliveries: { method: 'GET', path: '/v1/webhooks/{id}/deliveries', idempotencyKey: false },
  listWebhooks: { method: 'GET', path: '/v1/webhooks', idempotencyKey: false },
  listWorkflowFields: { method: 'GET', path: '/v1/workflows/fields', idempotencyKey: false },
  listWorkflows: { method: 'GET', path: '/v1/workflows', idempotencyKey: false },
  logIn: { method: 'POST', path: '/auth/login', idempotencyKey: false },
  logOut: { method: 'POST', path: '/auth/logout', idempotencyKey: false },
  lookupContacts: { method: 'POST', path: '/v1/contacts/lookup', idempotencyKey: false },
  pauseCampaign: { method: 'POST', path: '/v1/campaigns/{id}/pause', idempotencyKey: true },
  previewImport: { method: 'POST', path: '/v1/contacts/import/preview', idempotencyKey: false },
  previewSegment: { method: 'POST', path: '/v1/segments/preview', idempotencyKey: false },
  previewTemplate: { method: 'POST', path: '/v1/templates/preview', idempotencyKey: false },
  previewWorkflow: { method: 'POST', path: '/v1/workflows/{id}/preview', idempotencyKey: false },
  putVariants: { method: 'PUT', path: '/storefront/variants', idempotencyKey: false },
  receiveSnsMessage: { method: 'POST', path: '/webhooks/sns', idempotencyKey: false },
  receiveTwilioMessage: { method: 'POST', path: '/webhooks/twilio/inbound', idempotencyKey: false },
  receiveTwilioStatus: { method: 'POST', path: '/webhooks/twilio/status', idempotencyKey: false },
  recordEvent: { method: 'POST', path: '/v1/events/track', idempotencyKey: true },
  recordPixel: { method: 'POST', path: '/v1/pixel', idempotencyKey: true },
  refreshSegment: { method: 'POST', path: '/v1/segments/{id}/refresh', idempotencyKey: true },
  releaseProject: { method: 'POST', path: '/project/release', idempotencyKey: true },
  releaseTenant: { method: 'POST', path: '/operator/projects/{id}/release', idempotencyKey: false },
  removeFromTeam: { method: 'DELETE', path: '/team/members/{userId}', idempotencyKey: false },
  removeSegmentMembers: { method: 'DELETE', path: '/v1/segments/{id}/members', idempotencyKey: false },
  replayWebhookDeliveries: { method: 'POST', path: '/v1/webhooks/{id}/replay', idempotencyKey: true },
  replayWebhookDelivery: { method: 'POST', path: '/v1/webhooks/{id}/deliveries/{deliveryId}/replay', idempotencyKey: true },
  resendEmail: { method: 'POST', path: '/v1/emails/{id}/resend', idempotencyKey: true },
  resumeCampaign: { method: 'POST', path: '/v1/campaigns/{id}/resume', idempotencyKey: true },
  resumeRoute: { method: 'POST', path: '/operator/route-pauses/{id}/resume', idempotencyKey: false },
  resumeSending: { method: 'POST', path: '/operator/sending/resume', idempotencyKey: false },
  retryCampaign: { method: 'POST', path: '/v1/campaigns/{id}/retry', idempotencyKey: true },
  retryExecution: { method: 'POST', path: '/v1/workflows/{id}/executions/{executionId}/retry', idempotencyKey: true },
  reviewCampaign: { method: 'GET', path: '/v1/campaigns/{id}/review', idempotencyKey: false },
  revokeApiKey: { method: 'POST', path: '/apikeys/{id}/revoke', idempotencyKey: true },
  rotatePublicKey: { method: 'POST', path: '/apikeys/public/rotate', idempotencyKey: true },
  rotateWebhookSecret: { method: 'POST', path: '/v1/webhooks/{id}/rotate-secret', idempotencyKey: true },
  saveContact: { method: 'POST', path: '/v1/contacts', idempotencyKey: true },
  saveWorkflowGraph: { method: 'PUT', path: '/v1/workflows/{id}/graph', idempotencyKey: false },
  sendCampaign: { method: 'POST', path: '/v1/campaigns/{id}/send', idempotencyKey: true },
  sendEmail: { method: 'POST', path: '/v1/send', idempotencyKey: true },
  sendEmailBatch: { method: 'POST', path: '/v1/send/batch', idempotencyKey: true },
  sendSms: { method: 'POST', path: '/v1/sms/send', idempotencyKey: true },
  signUp: { method: 'POST', path: '/auth/signup', idempotencyKey: false },
  startExecution: { method: 'POST', path: '/v1/workflows/{id}/executions', idempotencyKey: true },
  switchProject: { method: 'POST', path: '/auth/project', idempotencyKey: false },
  testCampaign: { method: 'POST', path: '/v1/campaigns/{id}/test', idempotencyKey: true },
  testTemplate: { method: 'POST', path: '/v1/templates/test', idempotencyKey: true },
  trackEvent: { method: 'POST', path: '/v1/track', idempotencyKey: true },
  updateCampaign: { method: 'PUT', path: '/v1/campaigns/{id}', idempotencyKey: false },
  updateContact: { method: 'PATCH', path: '/v1/contacts/{id}', idempotencyKey: false },
  updateDomain: { method: 'PATCH', path: '/v1/domains/{id}', idempotencyKey: false },
  updateProject: { method: 'PATCH', path: '/project', idempotencyKey: false },
  updateSegment: { method: 'PATCH', path: '/v1/segments/{id}', idempotencyKey: false },
  updateTemplate: { method: 'PATCH', path: '/v1/templates/{id}', idempotencyKey: false },
  updateTopic: { method: 'PATCH', path: '/v1/topics/{id}', idempotencyKey: false },
  updateWebhook: { method: 'PATCH', path: '/v1/webhooks/{id}', idempotencyKey: false },
  updateWorkflow: { method: 'PATCH', path: '/v1/workflows/{id}', idempotencyKey: false },
  updateWorkflowStep: { method: 'PATCH', path: '/v1/workflows/{id}/steps/{stepId}', idempotencyKey: false },
  uploadAsset: { method: 'POST', path: '/v1/assets', idempotencyKey: true },
  verifyDomain: { method: 'GET', path: '/v1/domains/{id}/verify', idempotencyKey: false },
  verifyEmail: { method: 'POST', path: '/v1/verify', idempotencyKey: false },
  waitForVariant: { method: 'POST', path: '/v1/back-in-stock', idempotencyKey: true },
  withdrawInvitation: { method: 'DELETE', path: '/team/invitations/{id}', idempotencyKey: false },
} as const;
