// The points in WebGL: a camera that turns around them, colours and layers that can be exchanged.
import { BufferAttribute, BufferGeometry, Points, PointsMaterial } from "three";
import { Stage } from "../shared/stage.js";
import { middleDepth, type Cloud } from "./cloud.js";

export class PointScene {
  readonly #stage: Stage;
  readonly #layers: Points<BufferGeometry, PointsMaterial>[];
  readonly #colours: BufferAttribute;

  constructor(canvas: HTMLCanvasElement, readonly cloud: Cloud) {
    this.#stage = new Stage(canvas);
    this.#stage.lens(cloud.fovDeg, middleDepth(cloud.points));
    this.#colours = new BufferAttribute(new Uint8Array(cloud.points.length), 3, true);
    const position = new BufferAttribute(turned(cloud.points), 3);
    this.#layers = cloud.layers.map((layer) => {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", position);
      geometry.setAttribute("color", this.#colours);
      geometry.setDrawRange(layer.start, layer.count);
      const points = new Points(geometry, new PointsMaterial({ size: 2, sizeAttenuation: false, vertexColors: true }));
      // The bounds of a geometry know nothing of its draw range.
      points.frustumCulled = false;
      this.#stage.scene.add(points);
      return points;
    });
    this.colour([...cloud.colours.keys()][0] ?? "");
    this.reset();
  }

  /** Sees what the camera saw. */
  reset(): void {
    this.#stage.reset();
  }

  colour(name: string): void {
    const colours = this.cloud.colours.get(name);
    if (colours !== undefined) (this.#colours.array as Uint8Array).set(colours);
    else (this.#colours.array as Uint8Array).fill(220);
    this.#colours.needsUpdate = true;
    this.#stage.draw();
  }

  showLayer(place: number, shown: boolean): void {
    const layer = this.#layers[place];
    if (layer !== undefined) layer.visible = shown;
    this.#stage.draw();
  }

  pointSize(pixels: number): void {
    for (const layer of this.#layers) layer.material.size = pixels;
    this.#stage.draw();
  }

  /** Points that nearly touch each other where the camera saw them, in pixels of the page. */
  get usualSize(): number {
    const { width, height } = this.#stage.renderer.domElement.getBoundingClientRect();
    const first = this.cloud.layers[0]?.count ?? 1;
    return Math.min(8, Math.max(1, Math.ceil(1.1 * Math.sqrt((width * height) / Math.max(1, first)))));
  }

  resize(width: number, height: number): void {
    this.#stage.resize(width, height);
  }

  /** Turns around the middle (radians), or comes nearer (a factor): for keys. */
  turn(sideways: number, up: number, nearer = 1): void {
    this.#stage.turn(sideways, up, nearer);
  }

  dispose(): void {
    for (const layer of this.#layers) {
      layer.geometry.dispose();
      layer.material.dispose();
    }
    this.#stage.dispose();
  }
}

/** From a camera's axes (y down, z forward) to those of WebGL (y up, z backward). */
function turned(points: Float32Array): Float32Array {
  const result = new Float32Array(points);
  for (let place = 0; place < result.length; place += 3) {
    result[place + 1] = -(points[place + 1] ?? 0);
    result[place + 2] = -(points[place + 2] ?? 0);
  }
  return result;
}
