/**
 * The test files that only `npm test -- --all` runs, because they take longest: about 7 seconds or more on two cores,
 * beside other tests. All other files together take under five minutes. Some files stay in `npm test` although they take
 * as long, so that `npm test` has tests of each kind: a browser (`test/dashboard/base.test.ts`), a killed process
 * (`test/durability/webhook-kill.test.ts`), random input (`test/fuzz/parsers.test.ts`), the saved histories
 * (`test/workflows/replay.test.ts`), a campaign (`test/workflows/topics.test.ts`), an execution
 * (`test/workflows/contact-execution.test.ts`).
 */
export const ONLY_IN_ALL = [
  'compute/threads.test.ts',
  'test/activities/{campaign-variants,campaigns,hold-guard,large-emails,mailer}.test.ts',
  'test/activities/{message-recovery,simulator}.test.ts',
  'test/api/{addresses,budgets,campaign-recipients,campaign-review,every-operation,limits}.test.ts',
  'test/api/{list-pages,openapi}.test.ts',
  'test/api/as-code/{campaigns,export-apply,round-trip}.test.ts',
  'test/api/callers/{callers,open-writes,operator-limits}.test.ts',
  'test/api/emails/{lost-commits,lost-engagements,send.sizes,tracking}.test.ts',
  'test/channels/{inbound-email,postfix,smtp-client.failures,smtp-relay}.test.ts',
  'test/channels/{smtp-relay.go,smtp-relay.original,smtp-sessions}.test.ts',
  'test/cli/{demo,demo-channels,doctor,doctor-mail,erasure,image,processes,public-host}.test.ts',
  'test/cli/{start,start.refusals,tidings}.test.ts',
  'test/dashboard/!(base).test.ts',
  'test/db/{content-removal,filter-sql,installation,refusals,row-types,segment-compute}.test.ts',
  'test/docs/commands.test.ts',
  'test/durability/!(webhook-kill).test.ts',
  'test/fuzz/borders.test.ts',
  'test/packages/{client,openapi-typescript,python-clients}.test.ts',
  'test/worker/{installation,slow-workflow-task,temporal-log,worker-deployment,worker-roles}.test.ts',
  'test/worker/workflow-metrics.test.ts',
  'test/workflows/{campaign,campaign-pacing,campaign-pause,campaign-recipients}.test.ts',
  'test/workflows/{campaign-times,campaign-variant-times,campaign-variants}.test.ts',
  'test/workflows/{cancelled-deliveries,deliveries,ends}.test.ts',
  'test/workflows/{execution-bounds,execution-moves,exits,filled-filters,frequency-cap,jobs}.test.ts',
  'test/workflows/{legacy-installation,lost-campaigns,lost-executions,lost-messages,lost-work,outbox}.test.ts',
  'test/workflows/{periodic-round,periodic-work,preview-property,privacy,recovery-agreement,route-pause}.test.ts',
  'test/workflows/{sandbox,shared-namespace,signal-floods,step-emails,step-times}.test.ts',
  'test/workflows/{temporal-ui,untrusted}.test.ts',
  'test/workflows/{webhook-load,webhook-requests,webhook-retries}.test.ts',
];
