import { type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { IconButton } from '../ui/icon-button.tsx';
import { appWords } from './strings.ts';
import type { IconComponent } from './views.ts';

const ICONS: Readonly<Record<MantineColorScheme, IconComponent>> = {
  light: IconSun,
  dark: IconMoon,
  auto: IconDeviceDesktop,
};
const SCHEMES = ['light', 'dark', 'auto'] as const;

export function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Current = ICONS[colorScheme];
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <IconButton label="Colours">
          <Current size={18} stroke={1.5} />
        </IconButton>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map((scheme) => {
          const Icon = ICONS[scheme];
          return (
            <Menu.Item
              key={scheme}
              leftSection={<Icon size={16} stroke={1.5} />}
              onClick={() => setColorScheme(scheme)}
              fw={scheme === colorScheme ? 600 : 400}
            >
              {appWords.theme[scheme]}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}
