import { AppShell, Burger, Group, Loader, NavLink, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from '../state/store.ts';
import { VIEWS } from './views.ts';

/** Header, navigation and the view that is open. */
export function Shell() {
  const { t } = useTranslation();
  const [opened, { toggle, close }] = useDisclosure();
  const viewId = useStore((state) => state.viewId);
  const view = VIEWS.find(({ id }) => id === viewId);
  return (
    <AppShell
      header={{ height: 44 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
    >
      <AppShell.Header>
        <Group h="100%" px="sm">
          <Burger
            opened={opened}
            onClick={toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={opened ? t('app.closeNavigation') : t('app.openNavigation')}
          />
          <Text fw={700}>{t('app.name')}</Text>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={t('app.navigation')}>
        {VIEWS.map(({ id, icon: Icon }) => (
          <NavLink
            key={id}
            href={`#/${id}`}
            label={t(`app.views.${id}`)}
            leftSection={<Icon size={18} stroke={1.5} />}
            active={id === viewId}
            onClick={() => {
              useStore.setState({ viewId: id });
              close();
            }}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <Suspense fallback={<Loader aria-label={t('app.loading')} />}>{view && <view.Component />}</Suspense>
      </AppShell.Main>
    </AppShell>
  );
}
