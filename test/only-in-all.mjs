/**
 * The test files that only `npm test -- --all` runs, because each costs 10 seconds of processor time or more. All other
 * files together take under five minutes on two cores. Some files stay in `npm test` although they cost as much, so
 * that `npm test` has tests of each kind: the access of all callers (`test/api/callers/callers.test.ts`), a browser
 * (`test/dashboard/base.test.ts`), a killed process (`test/durability/webhook-kill.test.ts`), random input
 * (`test/fuzz/parsers.test.ts`), a campaign and an execution (`test/workflows/campaign.test.ts`,
 * `test/workflows/contact-execution.test.ts`).
 */
export const ONLY_IN_ALL = [
  'test/activities/{campaigns,hold-guard,simulator}.test.ts',
  'test/api/{addresses,campaign-recipients}.test.ts',
  'test/api/as-code/{campaigns,export-apply,round-trip}.test.ts',
  'test/api/callers/operator-limits.test.ts',
  'test/api/emails/{lost-commits,lost-engagements}.test.ts',
  'test/channels/{inbound-email,postfix,smtp-relay.go,smtp-sessions}.test.ts',
  'test/cli/{demo,demo-channels,doctor,erasure,image,processes,public-host,start,start.refusals,tidings}.test.ts',
  'test/dashboard/!(base).test.ts',
  'test/db/{content-removal,refusals}.test.ts',
  'test/durability/!(webhook-kill).test.ts',
  'test/fuzz/borders.test.ts',
  'test/packages/{openapi-typescript,python-clients}.test.ts',
  'test/worker/{installation,slow-workflow-task,worker-deployment}.test.ts',
  'test/workflows/{campaign-pacing,campaign-times,campaign-variant-times,campaign-variants}.test.ts',
  'test/workflows/{execution-bounds,jobs,lost-campaigns,lost-executions,lost-messages,outbox}.test.ts',
  'test/workflows/{periodic-round,periodic-work,preview-property,privacy,recovery-agreement,route-pause}.test.ts',
  'test/workflows/{shared-namespace,signal-floods,step-times,untrusted}.test.ts',
  'test/workflows/{webhook-load,webhook-requests,webhook-retries}.test.ts',
];
