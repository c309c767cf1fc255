import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import '@mantine/core/styles.layer.css';
import '@mantine/notifications/styles.layer.css';
import '@mantine/spotlight/styles.layer.css';
import './theme/tokens.css';
import './theme/fonts.css';
import './theme/app.css';
import { setOtherProjectHandler, setSignedOutHandler } from '../api/client.ts';
import { createQueryClient, queryFor } from '../api/queries.ts';
import { reloadWhenOutdated } from './reload-when-outdated.ts';
import { createAppRouter } from './router.tsx';
import { resolveCssVariables, theme } from './theme/theme.ts';

// Loaded after the first screen. Mantine's store keeps a notification that is shown before this component is loaded.
const Notifications = lazy(() =>
  import('./notification-area.tsx').then(({ NotificationArea }) => ({ default: NotificationArea })),
);

const queries = createQueryClient();
const router = createAppRouter(queries);

// A session may end while the user works. The sign-in page then leads back to the same screen.
setSignedOutHandler(() => {
  const { href, pathname } = router.state.location;
  if (pathname !== '/sign-in') void router.navigate({ to: '/sign-in', search: { back: href } });
});

// The user has switched the project in another window. The shell follows when it knows the session's project.
setOtherProjectHandler(() => void queries.invalidateQueries({ queryKey: queryFor('getMe').queryKey }));

reloadWhenOutdated();

const root = document.getElementById('app');
if (!root) throw new Error('the page has no element with the id app');
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={resolveCssVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <Suspense>
          <Notifications />
        </Suspense>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
