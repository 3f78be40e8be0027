import type { TopicNode } from './topic-node.ts';
import type { OpenNodes } from './tree-rows.ts';

/** Which nodes are open: a default for all, and those that differ from it. So "open all" costs nothing. */
export class OpenState implements OpenNodes {
  #isOpenByDefault = false;
  #others = new WeakSet<TopicNode>();
  #seen = new WeakSet<TopicNode>();
  #version = 0;

  /** Changes with every change. */
  get version(): number {
    return this.#version;
  }

  has(node: TopicNode): boolean {
    return this.#others.has(node) !== this.#isOpenByDefault;
  }

  set(node: TopicNode, isOpen: boolean): void {
    if (this.has(node) === isOpen) return;
    if (isOpen === this.#isOpenByDefault) this.#others.delete(node);
    else this.#others.add(node);
    this.#version += 1;
  }

  /** Opens the nodes below that it has not seen yet. One that the user has closed stays so. */
  openNew(node: TopicNode): void {
    for (const child of node.children) {
      if (!this.#seen.has(child)) this.set(child, true);
      this.#seen.add(child);
      this.openNew(child);
    }
  }

  setAll(isOpen: boolean): void {
    this.#isOpenByDefault = isOpen;
    this.#others = new WeakSet();
    this.#version += 1;
  }

  /** Opens its ancestors, so that it is visible. */
  reveal(node: TopicNode): void {
    for (let up = node.parent; up?.parent !== undefined; up = up.parent) this.set(up, true);
  }
}
