// The surfaces in 3D, with the photograph on them.
import { BufferAttribute, BufferGeometry, CanvasTexture, DoubleSide, LinearSRGBColorSpace, Mesh, MeshBasicMaterial } from "three";
import { Stage } from "../shared/stage.js";
import type { Preview } from "./preview.js";

const MOST_TEXTURE_PX = 2048;

export class MeshScene {
  readonly #stage: Stage;
  readonly #mesh: Mesh<BufferGeometry, MeshBasicMaterial>;
  readonly #photograph: CanvasTexture;
  #lens = "";
  /** Triangles that are shown. */
  triangles = 0;

  constructor(canvas: HTMLCanvasElement, image: CanvasImageSource, width: number, height: number) {
    this.#stage = new Stage(canvas);
    this.#photograph = new CanvasTexture(reduced(image, width, height));
    this.#photograph.colorSpace = LinearSRGBColorSpace;
    const material = new MeshBasicMaterial({ map: this.#photograph, side: DoubleSide });
    this.#mesh = new Mesh(new BufferGeometry(), material);
    this.#mesh.frustumCulled = false;
    this.#stage.scene.add(this.#mesh);
  }

  show(preview: Preview): void {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(positions(preview), 3));
    geometry.setAttribute("uv", new BufferAttribute(places(preview), 2));
    const faces = triangles(preview);
    geometry.setIndex(new BufferAttribute(faces, 1));
    this.#mesh.geometry.dispose();
    this.#mesh.geometry = geometry;
    this.triangles = faces.length / 3;
    const lens = `${preview.focal} ${preview.width} ${preview.height}`;
    if (lens !== this.#lens) {
      this.#lens = lens;
      // A little wider than the photograph: what is turned stays in sight.
      this.#stage.lens(1.15 * 2 * Math.atan(preview.height / 2 / preview.focal) * (180 / Math.PI), middle(preview.depth));
      this.#stage.reset();
    }
    this.#stage.draw();
  }

  reset(): void {
    this.#stage.reset();
  }

  resize(width: number, height: number): void {
    this.#stage.resize(width, height);
  }

  turn(sideways: number, up: number, nearer = 1): void {
    this.#stage.turn(sideways, up, nearer);
  }

  dispose(): void {
    this.#mesh.geometry.dispose();
    this.#mesh.material.dispose();
    this.#photograph.dispose();
    this.#stage.dispose();
  }
}

function reduced(image: CanvasImageSource, width: number, height: number): HTMLCanvasElement {
  const scale = Math.min(1, MOST_TEXTURE_PX / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** Points in the axes of WebGL: y up, z backward. */
function positions({ width, height, focal, middle: [cx, cy], depth }: Preview): Float32Array {
  const found = new Float32Array(3 * width * height);
  for (let y = 0, place = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, place += 1) {
      const z = depth[place] ?? 0;
      found[3 * place] = (z * (x - cx)) / focal;
      found[3 * place + 1] = (-z * (y - cy)) / focal;
      found[3 * place + 2] = -z;
    }
  }
  return found;
}

function places({ width, height }: Preview): Float32Array {
  const found = new Float32Array(2 * width * height);
  for (let y = 0, place = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, place += 2) {
      found[place] = (x + 0.5) / width;
      found[place + 1] = 1 - (y + 0.5) / height;
    }
  }
  return found;
}

/** Two triangles for each four pixels, none across an occlusion (annotate/payload.py says which). */
function triangles({ width, height, links, depth }: Preview): Uint32Array {
  const found = new Uint32Array(6 * width * height);
  let count = 0;
  const there = (place: number): boolean => (depth[place] ?? 0) > 0;
  for (let y = 0; y + 1 < height; y += 1) {
    for (let x = 0; x + 1 < width; x += 1) {
      const here = y * width + x;
      const [right, below] = [here + 1, here + width];
      const links00 = links[here] ?? 0;
      if (!there(right) || !there(below)) continue;
      if ((links00 & 3) === 3 && there(here)) {
        found.set([here, below, right], count);
        count += 3;
      }
      if (((links[below] ?? 0) & 1) === 1 && ((links[right] ?? 0) & 2) === 2 && there(below + 1)) {
        found.set([right, below, below + 1], count);
        count += 3;
      }
    }
  }
  return found.slice(0, count);
}

/** The depth that the view turns around: between near and far, closer to what is near. */
function middle(depth: Float32Array): number {
  const known = depth.filter((value, place) => place % 7 === 0 && value > 0).sort();
  const near = known[Math.floor(0.05 * known.length)] ?? 1;
  const far = known[Math.floor(0.95 * known.length)] ?? 1;
  return 2 / (1 / near + 1 / far);
}
