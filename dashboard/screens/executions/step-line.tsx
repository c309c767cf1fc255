import { Code, Group, Text } from '@mantine/core';
import { AppLink } from '../../parts/app-link.tsx';
import { formatDuration } from '../../parts/format-duration.ts';
import { ExactTime } from '../../parts/instant.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import classes from '../../parts/timeline.module.css';
import { getTone, WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import type { Execution, Workflow } from './execution-type.ts';

type Visit = Execution['steps'][number];

/** The visits of an execution in order: result, time, attempts, and the time until which the step waits. */
export function StepLine({ steps, workflow }: { steps: Visit[]; workflow: Workflow | undefined }) {
  const names = new Map(workflow?.steps.map(({ id, name }) => [id, name]));
  return (
    <ol className={classes.timeline}>
      {steps.map((visit, index) => (
        // In a loop, a step is visited several times. The index is a stable key, because visits are only appended.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={index} data-tone={getTone('execution', visit.status)}>
          <OneVisit visit={visit} name={names.get(visit.stepId) ?? text.executions.deletedStep} />
        </li>
      ))}
    </ol>
  );
}

function OneVisit({ visit, name }: { visit: Visit; name: string }) {
  const { type, status, attempts, startedAt, completedAt, dueAt, error } = visit;
  const tookMs = completedAt ? Date.parse(completedAt) - Date.parse(startedAt) : 0;
  return (
    <>
      <div className={classes.named}>
        <span className={classes.name}>{name}</span>
        <WordBadge kind="step" value={type} />
        <WordBadge kind="execution" value={status} />
      </div>
      <div className={classes.detail}>
        <ExactTime at={startedAt} />
        {tookMs > 0 && ` · ${text.executions.took(formatDuration(tookMs))}`}
        {attempts > 1 && ` · ${text.executions.attempts(attempts)}`}
        {dueAt && (
          <>
            {' · '}
            {completedAt ? text.executions.wasDue : text.executions.due} <ExactTime at={dueAt} />
          </>
        )}
        {error && (
          <Code block mt={4} tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {error}
          </Code>
        )}
        <Output output={visit.output} />
      </div>
    </>
  );
}

/** Known fields are links or labels; the others are shown as JSON. */
function Output({ output }: Pick<Visit, 'output'>) {
  if (!output) return null;
  const { emailId, smsId, branch, reason, ...rest } = output;
  return (
    <>
      <Group gap="xs" mt={2}>
        {typeof emailId === 'string' && <AppLink to={`/messages/${emailId}`}>{text.executions.mail}</AppLink>}
        {typeof smsId === 'string' && <AppLink to={`/messages/sms/${smsId}`}>{text.executions.sms}</AppLink>}
        {typeof branch === 'string' && <span>{text.executions.branch(branch)}</span>}
        {typeof reason === 'string' && <WordBadge kind="reason" value={reason} />}
      </Group>
      {Object.keys(rest).length > 0 && (
        <details>
          <summary>
            <Text span size="xs" c="dimmed">
              {text.executions.output}
            </Text>
          </summary>
          <JsonView value={rest} maxHeight={240} />
        </details>
      )}
    </>
  );
}
