import { Alert, Grid, List, Stack, Switch, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { CardSection } from '../../../parts/card-section.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { GrayColumns } from '../../../parts/gray-parts.tsx';
import { Placeholder } from '../../../parts/loading.tsx';
import { GrayLines } from '../../../parts/pending-lines.tsx';
import { Refreshing } from '../../../parts/refreshing.tsx';
import { text } from '../../../text/text.ts';
import { ColumnTable, GrayColumnTable } from './column-table.tsx';
import { FirstRows, GrayFirstRows } from './first-rows.tsx';
import { Forecast } from './forecast.tsx';
import classes from './import.module.css';
import { type Preview, toFormData, usePreview } from './use-preview.ts';

const words = text.contacts.import;

/** Preview of a file: its columns, first rows and counts; and the import itself. */
export function ImportPreview({ file }: { file: File }) {
  const { preview, mapping, isRecalled, choose, storeMapping } = usePreview(file);
  const navigate = useNavigate();
  const [greets, setGreets] = useState(false);
  const start = useWrite('importContacts', { changes: ['listContactJobs'] });
  const run = () =>
    start.mutate(
      { query: greets ? { triggerWorkflows: true } : {}, body: toFormData(file, mapping) },
      {
        onSuccess: ({ jobId }) => {
          storeMapping();
          void navigate({ to: '/contacts/jobs/$kind/$jobId', params: { kind: 'import', jobId } });
        },
      },
    );
  const { data, error, isPending, isPlaceholderData, refetch } = preview;
  if (isPending) {
    return (
      <Placeholder>
        <GrayPreview />
      </Placeholder>
    );
  }
  if (error) return <Failed error={error} retry={() => void refetch()} />;
  const importable = data.result !== null && data.result.successCount > 0 && !isPlaceholderData;
  return (
    <Refreshing isBusy={isPlaceholderData}>
      <Stack gap="lg">
        {isRecalled && (
          <Text size="sm" c="dimmed">
            {words.remembered}
          </Text>
        )}
        <Problems preview={data} />
        <Grid gutter="lg">
          <Grid.Col span={{ base: 12, md: 7.5 }}>
            <Stack gap="lg">
              <ColumnTable preview={data} mapping={mapping ?? {}} onChange={choose} />
              {data.result && <FirstRows preview={data} />}
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 4.5 }}>
            {data.result && (
              <CountsCard>
                <Forecast preview={data} result={data.result} />
                <Text size="xs" c="dimmed">
                  {words.consent}
                </Text>
                <Switch
                  label={words.greet}
                  description={words.greetHelp}
                  checked={greets}
                  onChange={(event) => setGreets(event.currentTarget.checked)}
                />
                {start.error && <Failed error={start.error} />}
                <ActionButton needs="contacts:edit" onClick={run} loading={start.isPending} disabled={!importable}>
                  {words.start(data.result.successCount)}
                </ActionButton>
              </CountsCard>
            )}
          </Grid.Col>
        </Grid>
      </Stack>
    </Refreshing>
  );
}

/** The parts of the preview while the file is checked. */
function GrayPreview() {
  return (
    <GrayColumns
      aside={
        <CountsCard>
          <Text size="sm" c="dimmed">
            {words.checking}
          </Text>
          <GrayLines count={5} gap={12} />
        </CountsCard>
      }
    >
      <GrayColumnTable />
      <GrayFirstRows />
    </GrayColumns>
  );
}

function CountsCard({ children }: { children: ReactNode }) {
  return (
    <CardSection title={words.counts} className={classes.summary}>
      <Stack className="card-block" gap="sm">
        {children}
      </Stack>
    </CardSection>
  );
}

function Problems({ preview: { problems } }: { preview: Preview }) {
  if (problems.length === 0) return null;
  return (
    <Alert color="orange" title={words.problems} role="alert">
      <List size="sm">
        {problems.map(({ field, message }) => (
          <List.Item key={`${field} ${message}`}>{message}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
