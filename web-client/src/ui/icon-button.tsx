import { ActionIcon, type ActionIconProps, Tooltip } from '@mantine/core';
import type { ComponentPropsWithRef, ReactNode } from 'react';

interface IconButtonProps
  extends ActionIconProps,
    Omit<ComponentPropsWithRef<'button'>, keyof ActionIconProps> {
  /** Names the action: the tooltip, and the name for screen readers. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A button that is only an icon. */
export function IconButton({ label, children, ...props }: IconButtonProps) {
  return (
    <Tooltip label={label} openDelay={400} withinPortal>
      <ActionIcon variant="subtle" color="gray" size="md" aria-label={label} {...props}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
