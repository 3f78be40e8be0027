import { AppShell, VisuallyHidden } from '@mantine/core';
import { useDisclosure, useReducedMotion } from '@mantine/hooks';
import { Suspense, useEffect } from 'react';
import { useActiveProfile } from '../state/hooks.ts';
import { useStore } from '../state/store.ts';
import { Loading } from '../ui/loading.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { Header } from './header.tsx';
import { Navigation } from './navigation.tsx';
import { NoticeBar } from './notice-bar.tsx';
import { DIALOG_LOADS, Questions } from './questions.tsx';
import classes from './shell.module.css';
import { useShortcuts } from './shortcuts.ts';
import { appWords } from './strings.ts';
import { OVERLAYS_ID } from './theme.ts';
import { useDialogFocus } from './use-dialog-focus.ts';
import { useStorageTrouble } from './use-storage-trouble.ts';
import { ViewBoundary } from './view-boundary.tsx';
import { preload, VIEWS } from './views.ts';

const HEADER_HEIGHT = 44;
const NAVBAR_WIDTH = 216;

/** How long a phone's navigation slides. The theme does not tell this component of reduced motion. */
const SLIDE_MS = 200;

/** Header, navigation and the open view. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const isMotionReduced = useReducedMotion();
  const isReady = useStore((state) => state.isReady);
  const isMessageShown = useStore((state) => state.isMessageShown);
  const viewId = useStore((state) => state.viewId);
  const profile = useActiveProfile();
  const view = VIEWS.find(({ id }) => id === viewId);
  useShortcuts();
  useDialogFocus();
  useStorageTrouble();
  useEffect(() => (isReady ? preload(DIALOG_LOADS, isMessageShown) : undefined), [isReady, isMessageShown]);
  useEffect(() => {
    document.title = `${appWords.views[viewId]} · ${profile?.name ?? 'Apus'} · Apus`;
  }, [viewId, profile?.name]);
  return (
    <AppShell
      header={{ height: HEADER_HEIGHT }}
      navbar={{ width: NAVBAR_WIDTH, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      transitionDuration={isMotionReduced ? 0 : SLIDE_MS}
    >
      <button type="button" className={classes.skip} onClick={skipToContent}>
        Skip to the content
      </button>
      <AppShell.Header className={classes.header}>
        <Header isNavigationOpen={opened} toggleNavigation={toggle} />
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label="Connections and views">
        <Navigation close={close} />
      </AppShell.Navbar>
      <AppShell.Main className={classes.main} id="content" tabIndex={-1}>
        <div id={OVERLAYS_ID} />
        <ConnectionBanner />
        {isReady && view !== undefined && (
          <ViewBoundary key={view.id}>
            <VisuallyHidden component="h1">{appWords.views[view.id]}</VisuallyHidden>
            <Suspense fallback={<Loading />}>
              <view.Component />
            </Suspense>
          </ViewBoundary>
        )}
        <NoticeBar />
      </AppShell.Main>
      <Questions />
    </AppShell>
  );
}

/** It is no link: the part of the address behind the # names the view. */
function skipToContent(): void {
  document.getElementById('content')?.focus();
}
