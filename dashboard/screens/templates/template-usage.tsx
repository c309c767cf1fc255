import { Box, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CountLink } from '../../parts/count-link.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';

/** The steps of automations that use a template, and how many emails were sent with it. */
export function TemplateUsage({ id }: { id: string }) {
  const usage = useQuery(queryFor('getTemplateUsage', { params: { id } }));
  return (
    <Box component="section" aria-labelledby="template-usage">
      <Title order={2} size="h5" id="template-usage" mb="xs">
        {text.templates.usedIn}
      </Title>
      <QueryView of={usage} height={80}>
        {({ workflowSteps, emailsSent }) => (
          <>
            <Text size="sm" c="dimmed">
              {workflowSteps.length === 0 ? text.templates.notUsed : text.templates.usedInSteps(workflowSteps.length)}
            </Text>
            <Text size="sm" c="dimmed" mt={4}>
              {text.templates.emailsSent}:{' '}
              <CountLink n={emailsSent} href={`/messages?templateId=${id}&happened=sent`} />
            </Text>
            {workflowSteps.length > 0 && (
              <Stack component="ul" gap={6} mt="xs" p={0} mb={0} style={{ listStyle: 'none' }}>
                {workflowSteps.map((step) => (
                  <Text key={step.id} component="li" size="sm" style={{ overflowWrap: 'anywhere' }}>
                    <AppLink to={`/automations/${step.workflowId}`}>{step.workflowName}</AppLink>
                    {': '}
                    {step.name}
                  </Text>
                ))}
              </Stack>
            )}
          </>
        )}
      </QueryView>
    </Box>
  );
}
