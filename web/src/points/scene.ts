// The points in WebGL: a camera that turns around them, colours and layers that can be exchanged.
import { BufferAttribute, BufferGeometry, LinearSRGBColorSpace, PerspectiveCamera, Points, PointsMaterial, Scene, WebGLRenderer } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { oncePerFrame } from "../shared/viewer.js";
import { middleDepth, type Cloud } from "./cloud.js";

export class PointScene {
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera: PerspectiveCamera;
  readonly #controls: OrbitControls;
  readonly #layers: Points<BufferGeometry, PointsMaterial>[];
  readonly #distance: number;
  readonly #colours: BufferAttribute;
  readonly draw = oncePerFrame(() => this.#renderer.render(this.#scene, this.#camera));

  constructor(canvas: HTMLCanvasElement, readonly cloud: Cloud) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: true });
    this.#renderer.setPixelRatio(window.devicePixelRatio || 1);
    // Colours of pictures are shown as they are.
    this.#renderer.outputColorSpace = LinearSRGBColorSpace;
    this.#renderer.setClearColor(0x0c0d0f);
    this.#distance = middleDepth(cloud.points);
    this.#camera = new PerspectiveCamera(cloud.fovDeg, 1, this.#distance / 1000, this.#distance * 1000);
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.addEventListener("change", this.draw);
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
      this.#scene.add(points);
      return points;
    });
    this.colour([...cloud.colours.keys()][0] ?? "");
    this.reset();
  }

  /** Sees what the camera saw. */
  reset(): void {
    this.#camera.position.set(0, 0, 0);
    this.#controls.target.set(0, 0, -this.#distance);
    this.#controls.update();
    this.draw();
  }

  colour(name: string): void {
    const colours = this.cloud.colours.get(name);
    if (colours !== undefined) (this.#colours.array as Uint8Array).set(colours);
    else (this.#colours.array as Uint8Array).fill(220);
    this.#colours.needsUpdate = true;
    this.draw();
  }

  showLayer(place: number, shown: boolean): void {
    const layer = this.#layers[place];
    if (layer !== undefined) layer.visible = shown;
    this.draw();
  }

  pointSize(pixels: number): void {
    for (const layer of this.#layers) layer.material.size = pixels;
    this.draw();
  }

  /** Points that nearly touch each other where the camera saw them, in pixels of the page. */
  get usualSize(): number {
    const { width, height } = this.#renderer.domElement.getBoundingClientRect();
    const first = this.cloud.layers[0]?.count ?? 1;
    return Math.min(8, Math.max(1, Math.ceil(1.1 * Math.sqrt((width * height) / Math.max(1, first)))));
  }

  resize(width: number, height: number): void {
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.#camera.updateProjectionMatrix();
    this.draw();
  }

  /** Turns around the middle (radians), or comes nearer (a factor): for keys. */
  turn(sideways: number, up: number, nearer = 1): void {
    const { position } = this.#camera;
    const { target } = this.#controls;
    const offset = position.clone().sub(target);
    const radius = offset.length() / nearer;
    const angle = Math.atan2(offset.x, offset.z) + sideways;
    const tilt = Math.min(1.5, Math.max(-1.5, Math.asin(offset.y / offset.length()) + up));
    offset.set(Math.sin(angle) * Math.cos(tilt), Math.sin(tilt), Math.cos(angle) * Math.cos(tilt)).multiplyScalar(radius);
    position.copy(target).add(offset);
    this.#controls.update();
    this.draw();
  }

  dispose(): void {
    this.#controls.dispose();
    for (const layer of this.#layers) {
      layer.geometry.dispose();
      layer.material.dispose();
    }
    this.#renderer.dispose();
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
