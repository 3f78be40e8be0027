import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';

interface BottomDrawerProps {
  /** Its name for screen readers; its content has its own heading and close button. */
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Shows details on a phone: over the page, from below. */
export function BottomDrawer({ label, onClose, children }: BottomDrawerProps) {
  return (
    <Drawer.Root opened onClose={onClose} position="bottom" size="85%" padding={0}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={label}>
        <Drawer.Body h="max(100%, 400px)">{children}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
