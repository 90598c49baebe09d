"""Things of glass: closed, outward, standing on the ground, the same for the same seed."""

import numpy as np
import pytest

from depthgauge.synth.library.glassware import KINDS
from depthgauge.synth.scene import mesh as meshes
from depthgauge.synth.scene.material import Finish, index_of, outside_index_of

GLASS = Finish("glass", (1.0, 1.0, 1.0), index=1.52)


def made(kind, seed=3, material=GLASS):
    return KINDS[kind]("it", material, np.random.default_rng(seed))


def turned_over(mesh):
    return meshes.Mesh(mesh.vertices, mesh.triangles[:, ::-1], -mesh.normals, mesh.uv)


def bodies(things):
    """The closed bodies of an object: each opaque thing, and each transparent medium."""
    media: dict[float, list[meshes.Mesh]] = {}
    for thing in things:
        if not thing.material.transparent:
            yield thing.mesh
            continue
        media.setdefault(index_of(thing.material), []).append(thing.mesh)
        if (outside := outside_index_of(thing.material)) != 1.0:
            media.setdefault(outside, []).append(turned_over(thing.mesh))
    yield from (meshes.join(parts) for parts in media.values())


def open_edges(mesh):
    """Edges that are not met as often in one direction as in the other."""
    _, same = np.unique(np.round(mesh.vertices, 8) + 0.0, axis=0, return_inverse=True)
    corners = same.reshape(-1)[mesh.triangles]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]].astype(np.int64)
    count = int(edges.max()) + 1
    there, back = edges @ [count, 1], edges @ [1, count]
    return np.count_nonzero(np.sort(there) != np.sort(back))


def volume(mesh):
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def test_there_are_at_least_twenty_kinds():
    assert len(KINDS) >= 20


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_are_closed_and_not_inside_out(kind):
    for body in bodies(made(kind)):
        assert open_edges(body) == 0
        assert 1e-7 < volume(body) < 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_normals_point_outside_and_follow_the_triangles(kind):
    for thing in made(kind):
        mesh = thing.mesh
        corners = mesh.vertices[mesh.triangles]
        face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(face, axis=1)
        used = mesh.normals[mesh.triangles]
        assert np.linalg.norm(used, axis=-1) == pytest.approx(1.0)
        cosine = np.einsum("ij,ikj->ik", face / area[:, None], used)
        # Rims are bent within one triangle; nearly all of the surface is smooth or flat.
        assert np.average(cosine.min(axis=1) > 0.9, weights=area) > 0.97
        assert (cosine.mean(axis=1) > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_objects_stand_on_the_ground_and_have_a_sensible_size(kind):
    corners = np.concatenate([thing.mesh.vertices for thing in made(kind)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    assert high[1] == pytest.approx(0.0, abs=1e-6)
    assert 0.02 < -low[1] < 0.5
    assert np.abs([low, high]).max() < 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_bits_and_another_seed_another_shape(kind):
    one, same, other = made(kind, 5), made(kind, 5), made(kind, 6)
    for a, b in zip(one, same, strict=True):
        assert a.mesh.vertices.tobytes() == b.mesh.vertices.tobytes()
        assert a.material == b.material
    assert any(
        a.mesh.vertices.shape != b.mesh.vertices.shape or (a.mesh.vertices != b.mesh.vertices).any()
        for a, b in zip(one, other, strict=False)
    )


def test_a_filled_vessel_has_three_media():
    indices = {(index_of(t.material), outside_index_of(t.material)) for t in made("filled_glass")}
    liquid = next(inside for inside, outside in indices if inside != 1.52)
    assert indices == {(1.52, 1.0), (1.52, liquid), (liquid, 1.0)}


@pytest.mark.parametrize("kind", ["pot", "desk_lamp", "standing_mirror"])
def test_what_cannot_be_of_glass_is_of_metal(kind):
    assert not any(thing.material.transparent for thing in made(kind))


def test_a_hollow_vessel_is_lighter_than_a_solid_one():
    hollow, solid = (sum(map(volume, bodies(made(k, 9)))) for k in ("bottle", "solid_bottle"))
    assert 0.05 < hollow / solid < 0.4
