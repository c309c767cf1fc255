import { Button, Menu, Text } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWrite } from '../api/queries.ts';
import { text } from '../text/text.ts';
import { useSession } from './session.ts';

/** The project whose data is shown; a menu of the person's others. */
export function ProjectSwitch() {
  const { projectId, projectName, projects } = useSession();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const change = useWrite('switchProject', { changes: [] });
  const to = (id: string) =>
    change.mutate(
      { body: { projectId: id } },
      {
        onSuccess: async () => {
          await navigate({ to: '/' });
          // Nothing of the other project may be seen in this one.
          await queries.resetQueries();
        },
      },
    );
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          px="xs"
          rightSection={<IconSelector size={16} />}
          aria-label={text.app.projectIs(projectName)}
          maw={{ base: 180, sm: 320 }}
        >
          <Text fw={600} truncate>
            {projectName}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{text.app.projects}</Menu.Label>
        {projects.map(({ id, name }) => (
          <Menu.Item
            key={id}
            onClick={() => to(id)}
            disabled={id === projectId}
            rightSection={id === projectId && <IconCheck size={16} />}
          >
            <Text size="sm" truncate>
              {name}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
