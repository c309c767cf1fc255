import { Button, Menu, Text } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { useWrite } from '../api/queries.ts';
import { Logo } from '../parts/logo.tsx';
import { text } from '../text/text.ts';
import { useSession } from './session.ts';
import { useShowProject } from './shown-project.ts';

/** Shows the current project. Its menu lists all projects of the user, and switches to another one. */
export function ProjectSwitch() {
  const { projectId, projectName, projects } = useSession();
  const show = useShowProject();
  const change = useWrite('switchProject', { changes: [] });
  const switchTo = (id: string) => change.mutate({ body: { projectId: id } }, { onSuccess: show });
  return (
    <Menu position="bottom-start" width={260}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          px={8}
          h={36}
          c="var(--color-text)"
          justify="flex-start"
          w={{ sm: '100%' }}
          styles={{ label: { flex: 1 } }}
          leftSection={<Logo />}
          rightSection={<IconSelector size={16} />}
          aria-label={text.app.projectIs(projectName)}
          maw={{ base: 200, sm: '100%' }}
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
            onClick={() => switchTo(id)}
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
