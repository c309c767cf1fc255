import { Notifications } from '@mantine/notifications';

/** The corner of the window in which notifications appear. */
export function NotificationArea() {
  return <Notifications position="bottom-right" />;
}
